import { Opcode, type Packet } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"
import { PSN_MASK, psnDistance } from "./Psn.ts"
import { RcRequester } from "./RcRequester.ts"

/**
 * One end of a reliable connection: requester of RDMA WRITEs and responder to the peer's. Go-back-N recovery (IBTA 1.7
 * §9.7): a NAK or a timeout takes the requester back to the oldest unacknowledged packet.
 */
export class RcQueuePair extends RcRequester {
  protected handleReply(now: Time, packet: Packet): void {
    if (packet.opcode === Opcode.Cnp) {
      this.handleCnp(now)
      return
    }
    const nak = packet.opcode === Opcode.NakSequence
    // An acknowledgement names the last packet received, a sequence NAK the one expected: both as "packets received".
    const count = this.una + psnDistance((packet.psn + (nak ? 0 : 1)) & PSN_MASK, this.una & PSN_MASK)
    if (count > this.highest) return
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    // A NAK that was overtaken, or of packets that are not out any more, tells of no loss.
    const lost = nak && count === this.una && this.nxt > count
    if (lost) this.goBack()
    this.runController(now, packet, this.sequenceOf(count), before)
    if (lost && this.controller.onLoss(now, false)) this.tookAction(now)
    this.updateTimeout()
  }

  /** Nothing is out any more: the time to wait for an acknowledgement starts with the next packet. */
  protected goBack(): void {
    this.nxt = this.una
    this.sentBytes = this.ackedBytes
    this.ackDeadline = NEVER
  }
}
