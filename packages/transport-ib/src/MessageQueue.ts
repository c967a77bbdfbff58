/** One RDMA WRITE on its way. Packets and bytes are counted from the start of the connection. */
export interface Message {
  readonly id: number
  readonly firstPacket: number
  readonly packets: number
  readonly firstByte: number
  readonly bytes: number
  readonly mtuBytes: number
}

/** Packets a message of this many bytes takes; a message of zero bytes takes one (IBTA 1.7 §9.7.2). */
export const packetsOf = (bytes: number, mtuBytes: number): number =>
  bytes === 0 ? 1 : Math.floor((bytes + mtuBytes - 1) / mtuBytes)

/** The messages a requester has not had acknowledged yet, in order. */
export class MessageQueue {
  private readonly messages: Array<Message> = []
  /** Index of the oldest unacknowledged message, and of the one asked for last. */
  private head = 0
  private at = 0
  private packets = 0
  private bytes = 0

  /** Adds a message; returns the packets it takes. */
  add(id: number, bytes: number, mtuBytes: number): number {
    const packets = packetsOf(bytes, mtuBytes)
    this.messages.push({ id, firstPacket: this.packets, packets, firstByte: this.bytes, bytes, mtuBytes })
    this.packets += packets
    this.bytes += bytes
    return packets
  }

  /** The message that packet `number` belongs to; the packet must be an unacknowledged one. */
  holding(number: number): Message {
    let message = this.messages[this.at]!
    if (number >= message.firstPacket && number < message.firstPacket + message.packets) return message
    this.at = this.head
    message = this.messages[this.at]!
    while (number >= message.firstPacket + message.packets) message = this.messages[++this.at]!
    return message
  }

  /** Bytes in the packets before `number`. */
  bytesBefore(number: number): number {
    let index = this.head
    let message = this.messages[index]!
    while (number > message.firstPacket + message.packets) {
      const next = this.messages[index + 1]
      if (next === undefined) break
      message = next
      index++
    }
    const bytes = (number - message.firstPacket) * message.mtuBytes
    return message.firstByte + (bytes < message.bytes ? bytes : message.bytes)
  }

  /** The oldest message, when it ends at or before packet `number`; it leaves. */
  completedBy(number: number): Message | undefined {
    const message = this.messages[this.head]
    if (message === undefined || number < message.firstPacket + message.packets) return undefined
    this.head++
    if (this.head > 64 && this.head * 2 > this.messages.length) {
      this.messages.splice(0, this.head)
      this.at = Math.max(0, this.at - this.head)
      this.head = 0
    }
    return message
  }

  oldest(): Message | undefined {
    return this.messages[this.head]
  }
}
