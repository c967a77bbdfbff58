import { Ecn, Flag, type Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { Bth, frameBytes } from "./Bth.ts"
import type { QueuePairContext } from "./QueuePairContext.ts"

/**
 * Congestion notification packets to the peer: at most one an interval for a marked packet that came (IBTA 1.7 §A17.9.3;
 * DCQCN §3.1).
 */
export class Notifications {
  pending = false
  private readonly context: QueuePairContext
  private next: Time = Number.NEGATIVE_INFINITY

  constructor(context: QueuePairContext) {
    this.context = context
  }

  reset(): void {
    this.pending = false
    this.next = Number.NEGATIVE_INFINITY
  }

  /** A packet came; only a marked one matters. */
  note(now: Time, packet: Packet): void {
    if (packet.ecn !== Ecn.Experienced || now < this.next) return
    const interval = this.context.config.cnpIntervalPs
    if (interval === Number.POSITIVE_INFINITY) return
    this.next = now + interval
    this.pending = true
  }

  fill(out: Packet): void {
    const { header, settings } = this.context
    this.pending = false
    header.put(out, Bth.Cnp | Flag.Backward, settings.destinationQp, settings.partition, Ecn.NotCapable)
    out.psn = 0
    out.payloadBytes = 0
    out.wireBytes = frameBytes(Bth.Cnp, 0, header.ipv6)
  }
}
