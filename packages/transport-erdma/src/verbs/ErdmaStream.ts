import { Layout, type Message, type Packet, PSN_MASK } from "@rdmakit/packet"
import type { Ack, FlowAddress, Time } from "@rdmakit/protocol"
import { Bit, type Cause, Rdmap, wordOf } from "@rdmakit/transport-iwarp/rdmap"
import { type TcpConfig, TcpEndpoint } from "@rdmakit/transport-tcp"
import { HeldSegments } from "./HeldSegments.ts"

const { EXT } = Layout

/** Whose messages a stream carries. */
export interface StreamUser {
  /**
   * Fills a segment of the message that was given this number: `bytes` from `offset` on. Returns how many bytes its headers
   * have more than a tagged one's; negative: it cannot be made, and the packet is as good as fresh.
   */
  fill(out: Packet, message: number, offset: number, bytes: number, last: boolean): number
  /** Takes a segment whose turn it is. False: it has to wait. */
  deliver(packet: Packet): boolean
}

/** One end of the stream that carries a queue pair: segments with octets, taken in order; those ahead wait as copies. */
export class ErdmaStream extends TcpEndpoint {
  private readonly user: StreamUser
  private readonly destinationQp: number
  private readonly held = new HeldSegments()

  constructor(now: Time, config: TcpConfig, ack: Ack, address: FlowAddress, user: StreamUser, destinationQp: number) {
    super(now, config, ack, address)
    this.user = user
    this.destinationQp = destinationQp
  }

  /** The first segment that comes has this PSN. Before any has come. */
  receiveFrom(psn: number): void {
    this.receiveBase = psn & PSN_MASK
  }
  /** The first segment that leaves has this PSN. Before any has left. */
  sendFrom(psn: number): void {
    this.sendBase = psn & PSN_MASK
  }

  /** Everything that was given to it has left. */
  get idle(): boolean {
    return this.board.highest === this.end
  }

  protected override fill(out: Packet, message: Message, offset: number, bytes: number): number {
    const more = this.user.fill(out, message.id, offset, bytes, offset + bytes === message.bytes)
    if (more >= 0) out.pool.extension[out.extend() + EXT.destinationQp] = this.destinationQp
    return more
  }

  protected override fillAck(out: Packet, udpPorts: number): void {
    super.fillAck(out, udpPorts)
    const at = out.extend()
    out.pool.extension[at + EXT.destinationQp] = this.destinationQp
    out.pool.extension[at + EXT.segment] = Bit.Stream
  }

  /**
   * Fills a Terminate, which ends the connection in both directions. It goes beside the stream, as a reset of TCP's does:
   * nothing is sent again for it, but every segment that still comes is answered by one.
   */
  fillTerminate(out: Packet, cause: Cause): void {
    super.fillAck(out, this.udpPorts)
    const at = out.extend()
    out.pool.extension[at + EXT.destinationQp] = this.destinationQp
    out.pool.extension[at + EXT.segment] = Rdmap.Terminate | Bit.Stream
    out.pool.extension[at + EXT.immediate] = cause
  }

  protected override deliver(packet: Packet): boolean {
    return this.user.deliver(packet)
  }

  protected override keep(number: number, packet: Packet): void {
    this.held.keep(number, packet)
  }

  protected override passOn(): void {
    for (;;) {
      const { expected } = this
      const packet = this.held.at(expected)
      if (packet === undefined || !this.user.deliver(packet)) return
      this.held.drop(expected)
      this.expected = expected + 1
    }
  }

  /** What had to wait may be taken now. */
  resume(): void {
    const { expected } = this
    this.passOn()
    if (this.expected === expected) return
    this.ahead.trim(this.expected)
    this.controlPending = true
    // How long it has waited is no round trip.
    this.replyStamp = Number.NaN
  }

  /** The connection has ended: nothing is kept. */
  close(): void {
    this.held.clear()
    this.dropTelemetry()
  }
}

/** Whether an acknowledgement is a Terminate. */
export const isTerminate = (packet: Packet): boolean => (wordOf(packet, EXT.segment) & Bit.Opcode) === Rdmap.Terminate

/** What a Terminate says. */
export const causeOf = (packet: Packet): Cause => wordOf(packet, EXT.immediate)
