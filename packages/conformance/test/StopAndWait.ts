import { Opcode, type Packet } from "@rdmakit/packet"
import { type Engine, NEVER, type Time } from "@rdmakit/protocol"

export interface Send {
  readonly message: number
  readonly bytes: number
}
export interface Ended {
  readonly message: number
  readonly completed: boolean
}

const TIMEOUT_PS = 10e6
const RETRIES = 20

/** The simplest transport there is: a message is one packet, and the next one waits for its acknowledgement. */
export class StopAndWait implements Engine<Send, Ended> {
  nextTimeout: Time = NEVER
  received = 0
  protected readonly queue: Array<Send> = []
  protected readonly events: Array<Ended> = []
  protected number = 0
  protected out = false
  protected retries = 0
  protected failed = false
  protected expected = 0
  protected reply = -1

  get nextSend(): Time {
    return this.queue.length > 0 && !this.out ? 0 : NEVER
  }

  command(_now: Time, command: Send): void {
    if (this.failed) this.events.push({ message: command.message, completed: false })
    else this.queue.push(command)
  }

  pollTransmit(now: Time, packet: Packet): boolean {
    if (this.reply >= 0) {
      packet.opcode = Opcode.Acknowledge
      packet.psn = this.reply
      this.reply = -1
      return true
    }
    const head = this.queue[0]
    if (head === undefined || this.out) return false
    packet.opcode = Opcode.SendOnly
    packet.psn = this.number
    packet.payloadBytes = head.bytes
    this.out = true
    this.nextTimeout = now + TIMEOUT_PS
    return true
  }

  handlePacket(_now: Time, packet: Packet): void {
    if (this.failed) return
    if (packet.opcode !== Opcode.Acknowledge) {
      if (packet.psn === this.expected) this.take(packet)
      if (packet.psn < this.expected) this.reply = packet.psn
    } else if (this.out && packet.psn === this.number) {
      this.end(true)
    }
  }

  protected take(packet: Packet): void {
    this.received += packet.payloadBytes
    this.expected++
  }

  protected end(completed: boolean): void {
    const { message } = this.queue.shift()!
    this.events.push({ message, completed })
    this.number++
    this.retries = 0
    this.out = false
    this.nextTimeout = NEVER
  }

  handleTimeout(now: Time): void {
    if (now < this.nextTimeout) return
    this.out = false
    this.nextTimeout = NEVER
    if (++this.retries <= RETRIES) return
    this.failed = true
    while (this.queue.length > 0) this.end(false)
  }

  pollEvent(): Ended | undefined {
    return this.events.shift()
  }
}
