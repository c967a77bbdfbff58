/** A message on its way, which may end before those ahead of it do. */
export interface SrdMessage {
  readonly id: number
  readonly bytes: number
  /** Packets it takes, at least 1; of these, not sent and not acknowledged yet. */
  readonly packets: number
  unsent: number
  left: number
  bytesLeft: number
}

/** Messages that have left are cut off the front of the array once there are this many, and half of it. */
const SLACK = 64

/** The messages that have not ended, by the order they were given in, which is their tag. */
export class Messages {
  /** Packets not sent yet. */
  unsent = 0
  /** Messages that have not ended. */
  open = 0
  private readonly list: Array<SrdMessage | undefined> = []
  /** Tag of the first in the list, of the oldest open one, and of that which is being sent. */
  private first = 0
  private oldest = 0
  private current = 0
  private readonly mtuBytes: number

  constructor(mtuBytes: number) {
    this.mtuBytes = mtuBytes
  }

  add(id: number, bytes: number): void {
    const packets = bytes === 0 ? 1 : Math.ceil(bytes / this.mtuBytes)
    this.list.push({ id, bytes, packets, unsent: packets, left: packets, bytesLeft: bytes })
    this.unsent += packets
    this.open++
  }

  /** Tag of the message whose packet is the next to be sent for the first time; there must be one. */
  get sending(): number {
    while ((this.list[this.current - this.first]?.unsent ?? 0) === 0) this.current++
    return this.current
  }
  at(tag: number): SrdMessage {
    return this.list[tag - this.first]!
  }

  /** Bytes of the next packet of a message. */
  nextBytes(tag: number): number {
    const { packets, unsent, bytes } = this.at(tag)
    return unsent > 1 ? this.mtuBytes : bytes - (packets - 1) * this.mtuBytes
  }
  sent(tag: number): void {
    this.at(tag).unsent--
    this.unsent--
  }

  /** A packet of a message was acknowledged: the message, if that was its last. */
  delivered(tag: number, bytes: number): SrdMessage | undefined {
    const message = this.at(tag)
    message.left--
    message.bytesLeft -= bytes
    if (message.left > 0) return undefined
    this.drop(tag)
    return message
  }

  private drop(tag: number): void {
    this.list[tag - this.first] = undefined
    this.open--
    if (tag !== this.oldest) return
    const end = this.first + this.list.length
    while (this.oldest < end && this.list[this.oldest - this.first] === undefined) this.oldest++
    if (this.current < this.oldest) this.current = this.oldest
    const gone = this.oldest - this.first
    if (gone > SLACK && gone * 2 > this.list.length) {
      this.list.splice(0, gone)
      this.first = this.oldest
    }
  }

  /** All that have not ended end now; the oldest first. */
  takeAll(): ReadonlyArray<SrdMessage> {
    const all = this.list.filter((message) => message !== undefined)
    this.first += this.list.length
    this.oldest = this.first
    this.current = this.first
    this.list.length = 0
    this.unsent = 0
    this.open = 0
    return all
  }
}
