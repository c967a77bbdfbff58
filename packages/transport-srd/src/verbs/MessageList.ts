import type { Message } from "./Message.ts"

/** Messages that have left are cut off the front once there are this many, and half of all. */
const SLACK = 64

/** Messages in line. */
export class MessageList {
  private readonly list: Array<Message> = []
  private head = 0

  get length(): number {
    return this.list.length - this.head
  }
  get first(): Message | undefined {
    return this.list[this.head]
  }

  push(message: Message): void {
    this.list.push(message)
  }
  /** Puts one before all others. */
  unshift(message: Message): void {
    if (this.head > 0) this.list[--this.head] = message
    else this.list.unshift(message)
  }
  shift(): Message | undefined {
    const message = this.list[this.head]
    if (message === undefined) return undefined
    this.head++
    if (this.head > SLACK && 2 * this.head > this.list.length) {
      this.list.splice(0, this.head)
      this.head = 0
    }
    return message
  }
  /** Calls back for each, in line. */
  forEach(each: (message: Message) => void): void {
    for (let at = this.head; at < this.list.length; at++) each(this.list[at]!)
  }
  /** Takes one out, wherever it stands. */
  remove(message: Message): void {
    const at = this.list.indexOf(message, this.head)
    if (at >= 0) this.list.splice(at, 1)
  }
}
