import { Opcode, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import type { Ack, Time } from "@rdmakit/protocol"
import type { RcConfig } from "./RcConfig.ts"
import type { RcAddress } from "./RcEndpoint.ts"
import { RcQueuePair } from "./RcQueuePair.ts"

/**
 * Go-back-0, as adapters had it that lived in lossless networks (Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM
 * 2016, §4.1): at a gap the receiver forgets what it has of the message, and the sender begins the message again. With
 * `restartBytes` a message is taken as several of that size.
 *
 * Acknowledgements within a message open the window and tell the controller what is in the network; whatever they
 * acknowledged is sent again after a loss. `bytesAcknowledged` counts whole messages, and what cannot be lost any more.
 */
export class RestartQueuePair extends RcQueuePair {
  private readonly restartPackets: number
  /** Responder: the packet that a gap leads back to, and the bytes before it. */
  private restart: number
  private bytesBeforeRestart = 0

  constructor(now: Time, config: RcConfig, ack: Ack, address: RcAddress) {
    super(now, config, ack, address)
    const { restartBytes, mtuBytes } = config
    this.restartPackets = restartBytes === undefined ? Number.POSITIVE_INFINITY : restartBytes / mtuBytes
    this.restart = this.expected
  }

  override get bytesAcknowledged(): number {
    return this.finished ? this.ackedBytes : this.messages.bytesBefore(this.restartPoint())
  }

  protected override handleData(now: Time, packet: Packet): void {
    const ahead = psnDistance(packet.psn, this.expected & PSN_MASK)
    if (ahead > 0) {
      this.expected = this.restart
      this.receivedBytes = this.bytesBeforeRestart
    }
    super.handleData(now, packet)
    if (ahead !== 0) return
    const { opcode } = packet
    const isEnd = opcode === Opcode.WriteLast || opcode === Opcode.WriteOnly
    if (isEnd || this.expected - this.restart === this.restartPackets) {
      this.restart = this.expected
      this.bytesBeforeRestart = this.receivedBytes
    }
  }

  protected override acknowledged(now: Time, packet: Packet, count: number, isNak: boolean): void {
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    // A NAK of a message that is complete by now was overtaken.
    const lost = isNak && this.nxt > this.una && count === this.restartPoint()
    this.runController(now, packet, this.sequenceOf(count), before)
    if (!lost) return
    this.goBack()
    if (this.controller.onLoss(now, false)) this.tookAction(now)
  }

  protected override goBack(): void {
    this.una = this.restartPoint()
    this.ackedBytes = this.messages.bytesBefore(this.una)
    this.extendLimit()
    super.goBack()
  }

  /** First packet of the message, or of its part, that the oldest unacknowledged packet belongs to. */
  private restartPoint(): number {
    const { firstPacket } = this.messages.holding(this.una)
    const within = this.una - firstPacket
    return this.restartPackets === Number.POSITIVE_INFINITY ? firstPacket : this.una - (within % this.restartPackets)
  }
}
