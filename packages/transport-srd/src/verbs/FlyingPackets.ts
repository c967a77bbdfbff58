import type { Message } from "./Message.ts"

/** Room at first. */
const LEAST = 8

/** Which message a packet is of, and where in it, by the packet's number: a ring that grows with the window. */
export class FlyingPackets {
  private messages: Array<Message | undefined> = new Array<Message | undefined>(LEAST).fill(undefined)
  private offsets = new Float64Array(LEAST)
  private mask = LEAST - 1

  /** @param oldest number that is still looked up */
  put(number: number, message: Message, offset: number, oldest: number): void {
    while (number - oldest > this.mask) this.grow(oldest, number)
    this.messages[number & this.mask] = message
    this.offsets[number & this.mask] = offset
  }

  /** @param number its lowest 32 bits are enough; undefined: it was dropped */
  messageOf(number: number): Message | undefined {
    return this.messages[number & this.mask]
  }
  offsetOf(number: number): number {
    return this.offsets[number & this.mask]!
  }
  drop(number: number): void {
    this.messages[number & this.mask] = undefined
  }

  private grow(oldest: number, newest: number): void {
    const { messages, offsets, mask } = this
    const size = 2 * (mask + 1)
    this.messages = new Array<Message | undefined>(size).fill(undefined)
    this.offsets = new Float64Array(size)
    this.mask = size - 1
    for (let number = oldest; number < newest && number <= oldest + mask; number++) {
      this.messages[number & this.mask] = messages[number & mask]
      this.offsets[number & this.mask] = offsets[number & mask]!
    }
  }
}
