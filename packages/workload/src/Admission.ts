import { requireWhole } from "./WorkloadFlow.ts"

/** How much may be under way at once; what is left out has no limit. */
export interface AdmissionLimits {
  /**
   * Flows to one host. The remedy of caches and databases against incast: whoever asks many servers keeps a window of
   * outstanding requests, so that only so many answers come at a time (Nishtala et al., "Scaling Memcache at
   * Facebook", NSDI 2013, §3.1).
   */
  readonly flowsPerReceiver?: number
  /** Flows from one host: the queue depth with which a server works its requests off. */
  readonly flowsPerSender?: number
  /**
   * Bytes of the flows under way to one host: its credit. A flow starts when its size fits into what is left of it; one
   * that is larger than all of it waits until it is alone. The remedy of rendezvous protocols and storage targets,
   * where data come when the receiver has buffers for them and says so (clear to send; the R2T of iSCSI, RFC 7143
   * §11.8). It grants whole messages. Credits for single packets, as of ExpressPass or Homa, are a transport's matter.
   */
  readonly creditBytesPerReceiver?: number
}

/** The flows that ask: element i is flow i. */
export interface AdmissionFlows {
  readonly source: ArrayLike<number>
  readonly destination: ArrayLike<number>
  readonly bytes: ArrayLike<number>
}

const NONE = -1

/** Flows that wait at one host, in the order in which they asked: a list whose links lie in arrays. */
class Waiting {
  readonly next: Int32Array
  private readonly previous: Int32Array
  private readonly heads: Int32Array
  private readonly tails: Int32Array

  constructor(hosts: number, flows: number) {
    this.next = new Int32Array(flows)
    this.previous = new Int32Array(flows)
    this.heads = new Int32Array(hosts).fill(NONE)
    this.tails = new Int32Array(hosts).fill(NONE)
  }

  head(host: number): number {
    return this.heads[host]!
  }

  append(host: number, flow: number): void {
    const tail = this.tails[host]!
    this.previous[flow] = tail
    this.next[flow] = NONE
    if (tail === NONE) this.heads[host] = flow
    else this.next[tail] = flow
    this.tails[host] = flow
  }

  remove(host: number, flow: number): void {
    const before = this.previous[flow]!
    const after = this.next[flow]!
    if (before === NONE) this.heads[host] = after
    else this.next[before] = after
    if (after === NONE) this.tails[host] = before
    else this.previous[after] = before
  }
}

/**
 * Admission control at the hosts: which flows may start, and which wait until others have ended. It holds whole flows
 * back before their first packet, and so bounds how many compete for a receiver's link, which no controller can do
 * within the first round trip.
 *
 * Turns are first come, first served at each receiver: nobody takes the credit that one who came before waits for. A
 * flow that waits for its sender keeps nobody else back. Turns are given when a flow asks and when one ends, at its two
 * hosts alone. It reads no clock and its grants take no time: whoever drives it decides how long one is on its way.
 */
export class Admission {
  /** Flows that wait now. */
  waiting = 0
  /** Flows that have had to wait, so far. */
  delayed = 0

  private readonly flows: AdmissionFlows
  private readonly perReceiver: number
  private readonly perSender: number
  private readonly credit: number
  /** Under way, by host. */
  private readonly receiving: Int32Array
  private readonly sending: Int32Array
  private readonly granted: Float64Array
  private readonly atReceiver: Waiting
  private readonly atSender: Waiting
  /** When a flow asked: the how-manieth it was. */
  private readonly turn: Int32Array
  private asked = 0

  /** @throws WorkloadError for a limit below 1 */
  constructor(limits: AdmissionLimits, flows: AdmissionFlows) {
    for (const [name, value] of Object.entries(limits)) {
      if (value !== undefined) requireWhole(name, value, 1)
    }
    const { flowsPerReceiver, flowsPerSender, creditBytesPerReceiver } = limits
    this.perReceiver = flowsPerReceiver ?? Number.POSITIVE_INFINITY
    this.perSender = flowsPerSender ?? Number.POSITIVE_INFINITY
    this.credit = creditBytesPerReceiver ?? Number.POSITIVE_INFINITY
    this.flows = flows
    const count = flows.source.length
    let hosts = 0
    for (let flow = 0; flow < count; flow++) {
      hosts = Math.max(hosts, flows.source[flow]! + 1, flows.destination[flow]! + 1)
    }
    this.receiving = new Int32Array(hosts)
    this.sending = new Int32Array(hosts)
    this.granted = new Float64Array(hosts)
    this.atReceiver = new Waiting(hosts, count)
    this.atSender = new Waiting(hosts, count)
    this.turn = new Int32Array(count)
  }

  /** A flow asks to start. True: it may, and is under way from now on; false: it waits for its turn. */
  offer(flow: number): boolean {
    this.turn[flow] = this.asked++
    if (this.mayStart(flow)) {
      this.start(flow)
      return true
    }
    this.atReceiver.append(this.flows.destination[flow]!, flow)
    this.atSender.append(this.flows.source[flow]!, flow)
    this.waiting++
    this.delayed++
    return false
  }

  /**
   * A flow that was under way has ended, for good or ill. `admit` is called for each flow whose turn it is now, in the
   * order in which they asked; those are under way from then on.
   */
  ended(flow: number, admit: (flow: number) => void): void {
    const source = this.flows.source[flow]!
    const destination = this.flows.destination[flow]!
    this.sending[source]!--
    this.receiving[destination]!--
    this.granted[destination]! -= this.creditOf(flow)
    // Room has come at two hosts: those who wait at either, by turn.
    let first = this.atReceiver.head(destination)
    let second = this.atSender.head(source)
    while (first !== NONE || second !== NONE) {
      const takesFirst = second === NONE || (first !== NONE && this.turn[first]! <= this.turn[second]!)
      const candidate = takesFirst ? first : second
      if (first === candidate) first = this.atReceiver.next[candidate]!
      if (second === candidate) second = this.atSender.next[candidate]!
      if (this.mayStart(candidate)) {
        this.atReceiver.remove(this.flows.destination[candidate]!, candidate)
        this.atSender.remove(this.flows.source[candidate]!, candidate)
        this.waiting--
        this.start(candidate)
        admit(candidate)
      } else if (takesFirst && this.senderHasRoom(this.flows.source[candidate]!)) {
        // It waits for the receiver alone, and so does everyone after it.
        first = NONE
      }
      if (!this.receiverHasRoom(destination)) first = NONE
      if (!this.senderHasRoom(source)) second = NONE
    }
  }

  private start(flow: number): void {
    this.sending[this.flows.source[flow]!]!++
    this.receiving[this.flows.destination[flow]!]!++
    this.granted[this.flows.destination[flow]!]! += this.creditOf(flow)
  }

  /** Its size, or all there is. */
  private creditOf(flow: number): number {
    return Math.min(this.flows.bytes[flow]!, this.credit)
  }

  private senderHasRoom(source: number): boolean {
    return this.sending[source]! < this.perSender
  }

  /** For any flow at all. */
  private receiverHasRoom(destination: number): boolean {
    return this.receiving[destination]! < this.perReceiver && this.granted[destination]! < this.credit
  }

  private mayStart(flow: number): boolean {
    const destination = this.flows.destination[flow]!
    if (!this.senderHasRoom(this.flows.source[flow]!) || !this.receiverHasRoom(destination)) return false
    if (this.granted[destination]! + this.creditOf(flow) > this.credit) return false
    // Whoever came before and waits for the receiver alone has the first claim.
    const turn = this.turn[flow]!
    let other = this.atReceiver.head(destination)
    for (; other !== NONE && this.turn[other]! < turn; other = this.atReceiver.next[other]!) {
      if (this.senderHasRoom(this.flows.source[other]!)) return false
    }
    return true
  }
}
