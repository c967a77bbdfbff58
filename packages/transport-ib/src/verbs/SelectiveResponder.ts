import { Ecn, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { Syndrome } from "./Aeth.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import type { ReceiveSide } from "./ReceiveSide.ts"
import { ReorderBuffer } from "./ReorderBuffer.ts"
import { Responder } from "./Responder.ts"

/**
 * A responder that keeps what comes out of order, and carries it out in its turn (IRN §3.1). Each such packet is answered
 * by a NAK with two numbers: the PSN expected, which acknowledges all before it, and the PSN that came.
 */
export class SelectiveResponder extends Responder {
  private readonly ahead: ReorderBuffer
  private readonly window: number

  constructor(context: QueuePairContext, receives: ReceiveSide) {
    super(context, receives)
    this.window = context.config.reorderPackets
    this.ahead = new ReorderBuffer(this.window)
  }

  override startAt(psn: number): void {
    super.startAt(psn)
    this.ahead.clear()
  }

  override close(): void {
    super.close()
    this.ahead.clear()
  }

  override handleRequest(now: Time, packet: Packet): void {
    const distance = psnDistance(packet.psn, this.expected & PSN_MASK)
    if (distance <= 0) {
      const hadGap = this.ahead.count > 0
      super.handleRequest(now, packet)
      if (distance === 0 && hadGap) this.takeAhead(now, packet)
      return
    }
    if (packet.ecn === Ecn.Experienced) this.replies.mark()
    if (distance >= this.window) return
    this.ahead.keep(this.expected + distance, packet)
    if (!this.nakSent) this.replies.answerAhead(packet, this.expected)
  }

  /** What waited for the packet that came is carried out; then, or while something still waits, there is news at once. */
  private takeAhead(now: Time, packet: Packet): void {
    const { ahead, context } = this
    ahead.dropBefore(this.expected)
    while (context.broken === Break.None && !this.nakSent && ahead.has(this.expected)) {
      const number = this.expected
      this.take(now, ahead.at(number))
      ahead.drop(number)
      if (this.expected > number + 1) ahead.dropBefore(this.expected)
    }
    if (context.broken === Break.None && !this.nakSent) {
      this.replies.answer(packet, Syndrome.Ack, this.expected - 1)
    }
  }
}
