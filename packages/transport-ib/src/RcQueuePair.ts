import type { Packet } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"
import { RcRequester } from "./RcRequester.ts"

/**
 * One end of a reliable connection: requester of RDMA WRITEs and responder to the peer's. Go-back-N recovery (IBTA 1.7
 * §9.7): a NAK or a timeout takes the requester back to the oldest unacknowledged packet.
 */
export class RcQueuePair extends RcRequester {
  protected acknowledged(now: Time, packet: Packet, count: number, isNak: boolean): void {
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    // A NAK that was overtaken, or of packets that are not out any more, tells of no loss.
    const lost = isNak && count === this.una && this.nxt > count
    if (lost) this.goBack()
    this.runController(now, packet, this.sequenceOf(count), before)
    if (lost && this.controller.onLoss(now, false)) this.tookAction(now)
  }

  /** Nothing is out any more: the time to wait for an acknowledgement starts with the next packet. */
  protected goBack(): void {
    this.nxt = this.una
    this.sentBytes = this.ackedBytes
    this.ackDeadline = NEVER
  }
}
