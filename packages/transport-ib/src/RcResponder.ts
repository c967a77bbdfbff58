import { Ecn, Flag, Opcode, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import { DOUBLE_ZERO, type Time } from "@rdmakit/protocol"
import type { RcConfig } from "./RcConfig.ts"
import type { RcAddress } from "./RcEndpoint.ts"

/**
 * The half of a queue pair that responds: it takes in packets in order, acknowledges them, and tells of a gap by a NAK
 * (IBTA 1.7 §9.7.5).
 */
export abstract class RcResponder {
  readonly node: number
  readonly priority: number
  /** Port of the NIC this queue pair sends through; the world's to set. */
  port = -1
  /** Where a NIC's scheduler keeps this queue pair; the NIC's to set. */
  place = -1
  /** Index of this end among its world's endpoints; the same number packets of its direction carry. */
  readonly flow: number
  /** An acknowledgement or a NAK waits to be polled. */
  controlPending = false

  protected readonly config: RcConfig
  protected readonly peer: number

  // Number of the packet it expects, bytes received, and the acknowledgement it owes.
  protected expected: number
  protected receivedBytes = 0
  private unacknowledged = 0
  protected nakFor = -1
  protected nakTime: Time = DOUBLE_ZERO
  protected replyOpcode = 0
  private replyPsn = 0
  private replyCongestion = false
  private replyTelemetry = -1
  private replyPathId = 0
  private replyStamp: Time = DOUBLE_ZERO
  private replyUdpPorts = 0

  constructor(config: RcConfig, address: RcAddress) {
    this.config = config
    this.node = address.node
    this.peer = address.peer
    this.priority = address.priority
    this.flow = address.flow
    this.expected = (address.receivePsn ?? 0) & PSN_MASK
  }

  /** Bytes of the peer's messages that came, each once: in order, or with selective repeat in any order. */
  get bytesReceived(): number {
    return this.receivedBytes
  }

  protected handleData(now: Time, packet: Packet): void {
    const { config } = this
    const ahead = psnDistance(packet.psn, this.expected & PSN_MASK)
    if (ahead === 0) {
      this.expected++
      this.receivedBytes += packet.payloadBytes
      this.nakFor = -1
      if (this.owesAck(packet)) this.reply(packet, Opcode.Acknowledge, this.expected - 1)
    } else if (ahead > 0) {
      const isSilent = config.recovery === "timeout" || (this.nakFor === this.expected && now < this.nakTime)
      if (!isSilent) {
        this.nakFor = this.expected
        this.nakTime = now + config.nakIntervalPs
        this.reply(packet, Opcode.NakSequence, this.expected)
      }
    } else if (config.ackDuplicates || packet.has(Flag.AfterTimeout)) {
      this.reply(packet, Opcode.Acknowledge, this.expected - 1)
    }
  }

  protected owesAck(packet: Packet): boolean {
    const { config } = this
    if (config.ns3AckBytes !== undefined) {
      const chunk = config.ns3AckChunkBytes ?? 0
      return (
        this.receivedBytes >= config.ns3AckBytes ||
        (chunk > 0 && this.receivedBytes % chunk === 0) ||
        packet.has(Flag.AfterTimeout) ||
        // No count of bytes ever tells of this one; the reference sends no message of zero bytes.
        packet.payloadBytes === 0
      )
    }
    if (++this.unacknowledged >= config.ackEvery || packet.has(Flag.AckRequest)) {
      this.unacknowledged = 0
      return true
    }
    return false
  }

  protected reply(packet: Packet, opcode: number, number: number): void {
    this.replyOpcode = opcode
    this.replyPsn = number & PSN_MASK
    this.replyCongestion = packet.ecn === Ecn.Experienced
    this.replyStamp = packet.stamp
    const ports = packet.udpPorts
    this.replyUdpPorts = (ports >>> 16) | (ports << 16)
    if (this.replyTelemetry >= 0) packet.pool.releaseTelemetry(this.replyTelemetry)
    this.replyTelemetry = packet.detachTelemetry()
    this.replyPathId = packet.pathId
    this.controlPending = true
  }

  protected fillReply(out: Packet): void {
    const { framing } = this.config
    this.controlPending = false
    out.meta = this.replyOpcode | (this.replyCongestion ? Flag.CongestionEcho : 0) | (this.priority << 24)
    out.wireBytes = framing.ackBytes
    out.psn = this.replyPsn
    out.setNodes(this.node, this.peer)
    out.udpPorts = this.replyUdpPorts
    out.flow = this.flow
    out.stamp = this.replyStamp
    if (this.replyTelemetry !== -1) {
      out.attachTelemetry(this.replyTelemetry, this.replyPathId)
      this.replyTelemetry = -1
    }
  }
}
