import { Bth } from "./Bth.ts"

/** A READ, an atomic or an ATOMIC_WRITE that was accepted: kept for duplicates as long as its place is (IBTA 1.7 §9.7.5.1.2). */
export class Resource {
  /** `Bth` opcode of the request. */
  opcode: number = Bth.ReadRequest
  /** Numbers of its response's first packet, and after the last. */
  first = -1
  end = -1
  /** Of a READ: where the byte of packet `first` lies, the bytes from there on, and under which key. */
  address = 0
  bytes = 0
  key = 0
  /** Of an atomic: what was there before, as AtomicAckETH has it. */
  originalHigh = 0
  originalLow = 0
  /** What is being sent of it: from packet `begin` to before `stop`, `next` the next, `part` bytes in all. */
  begin = -1
  next = -1
  stop = -1
  part = 0
  /** All of the response has been sent once. */
  answered = false
}

/** The responder's resources: a ring of as many places as the queue pair has, the oldest given up for a new request. */
export class ResponderResources {
  private readonly ring: Array<Resource> = []
  private count = 0
  private most = 0
  /** How many have something to send. */
  private open = 0

  /** @param most READs and atomics the peer may have outstanding */
  setMost(most: number): void {
    if (most === this.most) return
    this.clear()
    this.most = most
    while (this.ring.length < most) this.ring.push(new Resource())
  }

  clear(): void {
    this.count = 0
    this.open = 0
    for (const resource of this.ring) {
      resource.first = -1
      resource.end = -1
      resource.next = -1
      resource.stop = -1
    }
  }

  /** A place for a new request; undefined: there are none, or the peer has more outstanding than it may. */
  take(): Resource | undefined {
    if (this.most === 0) return undefined
    const resource = this.ring[this.count % this.most]!
    if (resource.next < resource.stop) {
      if (!resource.answered) return undefined
      // It is being sent again, and the peer, which goes on, has the response that was sent before.
      resource.next = resource.stop
      this.open--
    }
    this.count++
    resource.answered = false
    return resource
  }

  /**
   * A part of its response is asked for again. One that is being sent is sent from the earlier place on, to the later end.
   * @param part bytes of a READ from packet `begin` on @param packetBytes of a full packet
   */
  sendAgain(resource: Resource, begin: number, stop: number, part: number, packetBytes: number): void {
    const { begin: under, next, part: left, stop: end } = resource
    if (next >= end || (begin <= under && stop >= end)) {
      this.send(resource, begin, stop, part)
      return
    }
    const from = begin < next ? begin : under
    const partEnd = begin * packetBytes + part
    const leftEnd = under * packetBytes + left
    this.send(resource, from, stop > end ? stop : end, (partEnd > leftEnd ? partEnd : leftEnd) - from * packetBytes)
    resource.next = begin < next ? begin : next
  }

  /** Its response is to be sent, or a part of it, from packet `begin` on. @param part bytes of a READ */
  send(resource: Resource, begin: number, stop: number, part: number): void {
    if (resource.next >= resource.stop) this.open++
    resource.begin = begin
    resource.next = begin
    resource.stop = stop
    resource.part = part
  }

  /** Its next packet was sent. */
  sent(resource: Resource): void {
    if (++resource.next === resource.stop) this.open--
    if (resource.next === resource.end) resource.answered = true
  }

  /** The oldest that has something to send. */
  get pending(): Resource | undefined {
    if (this.open === 0) return undefined
    const { count, most, ring } = this
    for (let index = count < most ? 0 : count - most; index < count; index++) {
      const resource = ring[index % most]!
      if (resource.next < resource.stop) return resource
    }
    return undefined
  }

  /** The one whose response has packet `number`. */
  holding(number: number): Resource | undefined {
    const { count, most, ring } = this
    for (let index = count < most ? 0 : count - most; index < count; index++) {
      const resource = ring[index % most]!
      if (number >= resource.first && number < resource.end) return resource
    }
    return undefined
  }
}
