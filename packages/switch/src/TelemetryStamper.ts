import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"

/** What a port writes into the telemetry of a packet that leaves. */
export interface TelemetryFormat {
  readonly name: string
  /** Time stamps are taken modulo this, ps; Infinity: they are not. */
  readonly timeModulusPs: number
  /** Byte counts are floored to this unit, and taken modulo `bytesModulus`. */
  readonly bytesUnit: number
  readonly bytesModulus: number
  /** Queue lengths are floored to this unit, and masked to below `queueModulus`. */
  readonly queueUnit: number
  readonly queueModulus: number
}

/** Full precision, nothing wraps. */
export const exactTelemetry: TelemetryFormat = {
  name: "exact",
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesUnit: 1,
  bytesModulus: Number.POSITIVE_INFINITY,
  queueUnit: 1,
  queueModulus: Number.POSITIVE_INFINITY,
}

/** The HPCC simulator's 64-bit hop: time 24 bits of ns, bytes 20 bits of 128·multi B, queue 17 bits of 80·multi B. */
export const ns3Telemetry = (multi: number): TelemetryFormat => ({
  name: "ns3",
  timeModulusPs: 2 ** 24 * 1000,
  bytesUnit: 128 * multi,
  bytesModulus: 2 ** 20 * 128 * multi,
  queueUnit: 80 * multi,
  queueModulus: 2 ** 17 * 80 * multi,
})

/** Stamps INT at dequeue: time, bytes sent before this packet, bytes left waiting at the port (HPCC §3.1). */
export class TelemetryStamper {
  private readonly format: TelemetryFormat
  private readonly exact: boolean
  /** Hops that found no room in a packet's telemetry. */
  overflows = 0

  constructor(format: TelemetryFormat) {
    this.format = format
    this.exact = format.bytesUnit === 1 && format.bytesModulus === Number.POSITIVE_INFINITY
  }

  stamp(now: Time, packet: Packet, sentBytes: number, queueBytes: number, rateBps: number, pathId: number): void {
    let time = now
    let sent = sentBytes
    let queue = queueBytes
    if (!this.exact) {
      const f = this.format
      time = now % f.timeModulusPs
      sent = (sentBytes - (sentBytes % f.bytesUnit)) % f.bytesModulus
      queue = (queueBytes - (queueBytes % f.queueUnit)) % f.queueModulus
    }
    if (!packet.stampHop(time, sent, queue, rateBps, pathId)) this.overflows++
  }
}
