/** A message on its way. Packets and bytes are counted from the start of the connection. */
export interface Message {
  readonly id: number
  /** Number of its first packet, unwrapped. */
  readonly firstPacket: number
  /** Packets it takes; at least 1. */
  readonly packets: number
  /** Bytes of the messages before it. */
  readonly firstByte: number
  readonly bytes: number
}

/** Packets a message of this many bytes takes; a message of zero bytes takes one (IBTA 1.7 §9.7.2). */
export const packetsOf = (bytes: number, mtuBytes: number): number => (bytes === 0 ? 1 : Math.ceil(bytes / mtuBytes))

/**
 * The number itself, as a small integer where it is one: sizes come from tables of doubles, and what is reckoned from a
 * double is one too, in a box of its own for each field of each queue pair.
 */
const unboxed = (value: number): number => {
  const small = value | 0
  return small === value ? small : value
}

/** Messages that have left are cut off the front of the array once there are this many, and half of it. */
const SLACK = 64

/** The messages a requester has not had acknowledged yet, in order. */
export class MessageQueue {
  private readonly messages: Array<Message> = []
  private readonly mtuBytes: number
  /** Index of the oldest unacknowledged message, and of the one asked for last; and these two messages. */
  private head = 0
  private at = 0
  private oldest: Message | undefined = undefined
  private last: Message | undefined = undefined
  private packets: number
  private bytes = 0

  /** @param firstPacket number of the first message's first packet @param mtuBytes payload of a full packet, bytes */
  constructor(firstPacket: number, mtuBytes: number) {
    this.packets = firstPacket
    this.mtuBytes = mtuBytes
  }

  /** Adds a message of `size` bytes; returns the packets it takes. */
  add(id: number, size: number): number {
    const bytes = unboxed(size)
    const packets = packetsOf(bytes, this.mtuBytes)
    const message = { id, firstPacket: this.packets, packets, firstByte: this.bytes, bytes }
    if (this.head === this.messages.length) this.oldest = message
    this.messages.push(message)
    this.packets += packets
    this.bytes += bytes
    return packets
  }

  /** The message that packet `number` belongs to; the packet must be an unacknowledged one. */
  holding(number: number): Message {
    const { last } = this
    if (last !== undefined && number >= last.firstPacket && number < last.firstPacket + last.packets) return last
    if (last === undefined || number < last.firstPacket) this.at = this.head
    let message = this.messages[this.at]!
    while (number >= message.firstPacket + message.packets) message = this.messages[++this.at]!
    this.last = message
    return message
  }

  /** Bytes in the packets before `number`, which must not be before the oldest message, nor past the last one's end. */
  bytesBefore(number: number): number {
    let index = this.head
    let message = this.oldest!
    while (number > message.firstPacket + message.packets) message = this.messages[++index]!
    const bytes = (number - message.firstPacket) * this.mtuBytes
    return message.firstByte + (bytes < message.bytes ? bytes : message.bytes)
  }

  /** The oldest message, when it ends at or before packet `number`; it leaves. */
  completedBy(number: number): Message | undefined {
    const message = this.oldest
    if (message === undefined || number < message.firstPacket + message.packets) return undefined
    this.head++
    if (this.head > SLACK && this.head * 2 > this.messages.length) {
      this.messages.splice(0, this.head)
      this.at = Math.max(0, this.at - this.head)
      this.head = 0
    }
    this.oldest = this.messages[this.head]
    return message
  }
}
