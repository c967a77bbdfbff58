import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"

/** Stamps INT at dequeue: time, bytes sent before this packet, bytes left waiting at the port (HPCC §3.1). */
export class TelemetryStamper {
  /** Index of each port's rate among the rates the pool was told of. */
  readonly rateCode: Uint16Array
  /** Hops that found no room in a packet's telemetry. */
  overflows = 0

  constructor(rateCode: Uint16Array) {
    this.rateCode = rateCode
  }

  stamp(now: Time, packet: Packet, egress: number, sentBytes: number, queueBytes: number, node: number): void {
    if (!packet.stampHop(now, sentBytes, queueBytes, this.rateCode[egress]!, node)) this.overflows++
  }
}
