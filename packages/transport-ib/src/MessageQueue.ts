/** One RDMA WRITE on its way. Packets and bytes are counted from the start of the connection. */
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

/** Messages that have left are cut off the front of the array once there are this many, and half of it. */
const SLACK = 64

/** The messages a requester has not had acknowledged yet, in order. */
export class MessageQueue {
  private readonly messages: Array<Message> = []
  private readonly mtuBytes: number
  /** Index of the oldest unacknowledged message, and of the one asked for last. */
  private head = 0
  private at = 0
  private packets: number
  private bytes = 0

  /** @param firstPacket number of the first message's first packet @param mtuBytes payload of a full packet, bytes */
  constructor(firstPacket: number, mtuBytes: number) {
    this.packets = firstPacket
    this.mtuBytes = mtuBytes
  }

  /** Adds a message of `bytes`; returns the packets it takes. */
  add(id: number, bytes: number): number {
    const packets = packetsOf(bytes, this.mtuBytes)
    this.messages.push({ id, firstPacket: this.packets, packets, firstByte: this.bytes, bytes })
    this.packets += packets
    this.bytes += bytes
    return packets
  }

  /** The message that packet `number` belongs to; the packet must be an unacknowledged one. */
  holding(number: number): Message {
    let message = this.messages[this.at]!
    if (number < message.firstPacket) {
      this.at = this.head
      message = this.messages[this.at]!
    }
    while (number >= message.firstPacket + message.packets) message = this.messages[++this.at]!
    return message
  }

  /** Bytes in the packets before `number`, which must not be before the oldest message, nor past the last one's end. */
  bytesBefore(number: number): number {
    let index = this.head
    let message = this.messages[index]!
    while (number > message.firstPacket + message.packets) message = this.messages[++index]!
    const bytes = (number - message.firstPacket) * this.mtuBytes
    return message.firstByte + (bytes < message.bytes ? bytes : message.bytes)
  }

  /** The oldest message, when it ends at or before packet `number`; it leaves. */
  completedBy(number: number): Message | undefined {
    const message = this.messages[this.head]
    if (message === undefined || number < message.firstPacket + message.packets) return undefined
    this.head++
    if (this.head > SLACK && this.head * 2 > this.messages.length) {
      this.messages.splice(0, this.head)
      this.at = Math.max(0, this.at - this.head)
      this.head = 0
    }
    return message
  }
}
