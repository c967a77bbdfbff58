import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { RcQueuePair } from "./RcQueuePair.ts"

/**
 * Go-back-N of the public HPCC simulator (rdma-hw.cc, ReceiveAck and RecoverQueue; rdma-queue-pair.cc, Acknowledge and
 * IsWinBound). A NAK takes the sender back to the oldest unacknowledged packet whatever it names, a second one of a gap that
 * is closed by then too; and an acknowledgement of more than is sent again since leaves the next packet where it is. What is
 * in flight is then less than nothing, an unsigned difference: with a window the sender waits, mostly for ever, and without
 * one it sends what has come already. A controller then sees fewer bytes sent than acknowledged. One message a connection.
 */
export class Ns3QueuePair extends RcQueuePair {
  override get windowBound(): boolean {
    const inFlight = this.sentBytes - this.ackedBytes
    const { window } = this.controller
    return inFlight >= window || (inFlight < 0 && window < Number.POSITIVE_INFINITY)
  }

  protected override acknowledged(now: Time, packet: Packet, count: number, isNak: boolean): void {
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    if (isNak) this.goBack()
    this.runController(now, packet, this.sequenceOf(count), before)
    if (isNak && this.controller.onLoss(now, false)) this.tookAction(now)
  }

  protected override advance(now: Time, count: number): void {
    const { nxt, sentBytes } = this
    super.advance(now, count)
    if (!this.config.ns3GoBack || nxt >= count || this.finished || nxt < this.messages.holding(count).firstPacket)
      return
    this.nxt = nxt
    this.sentBytes = sentBytes
    this.ackDeadline = now + this.config.ackTimeoutPs
  }
}
