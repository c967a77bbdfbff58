import { Opcode, type Packet, type PintCodec } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"

/** What a switch does about PINT as a packet leaves. One object serves all switches of a world. */
export interface PintStamping {
  /**
   * A packet starts to leave a port.
   * @param sentBytes bytes the port had sent before it @param queueBytes bytes that stay behind in all queues of the port
   */
  stamp(now: Time, packet: Packet, egress: number, sentBytes: number, queueBytes: number): void
}

export interface PintStamperOptions {
  /** Rates of all ports of the world, bit/s. */
  readonly rateBps: ArrayLike<number>
  /** T, the base RTT by which utilisations are smoothed and queues measured, ps. Above 0. */
  readonly baseRttPs: Time
  readonly codec: PintCodec
  /** Of the draws, 32 bits. */
  readonly seed: number
}

/**
 * PINT for HPCC: each port keeps the smoothed utilisation U of its link, and a data packet carries the largest U of the
 * ports it left by, encoded in a few bits (Ben Basat et al., PINT, SIGCOMM 2020: HPCC by per-packet aggregation).
 *
 * U is what the sender computes from telemetry in HPCC (Algorithm 1, MeasureInflight), one step for each data packet:
 * u = queue / (B·T) + bytes sent since the last data packet / (B·gap); U = (1 − τ/T)·U + (τ/T)·u, τ the gap, at most T.
 * How the encoding rounds is drawn by `hash(seed, port, ordinal)`.
 */
export class PintStamper implements PintStamping {
  private readonly bytesPerPs: Float64Array
  private readonly baseRttPs: Time
  private readonly codec: PintCodec
  private readonly seed: number
  private readonly utilisations: Float64Array
  private readonly stampedPs: Float64Array
  private readonly stampedBytes: Float64Array
  private readonly ordinals: Float64Array

  /** @throws RangeError for a base RTT that is not above 0 */
  constructor(options: PintStamperOptions) {
    const { rateBps, baseRttPs } = options
    if (!(baseRttPs > 0 && baseRttPs < Number.POSITIVE_INFINITY)) throw new RangeError(`PINT base RTT ${baseRttPs} ps`)
    const ports = rateBps.length
    this.bytesPerPs = Float64Array.from(rateBps, (rate) => rate / 8e12)
    this.baseRttPs = baseRttPs
    this.codec = options.codec
    this.seed = options.seed
    this.utilisations = new Float64Array(ports)
    this.stampedPs = new Float64Array(ports).fill(Number.NEGATIVE_INFINITY)
    this.stampedBytes = new Float64Array(ports)
    this.ordinals = new Float64Array(ports)
  }

  /** Smoothed utilisation of a port's link. */
  utilisation(port: number): number {
    return this.utilisations[port]!
  }

  stamp(now: Time, packet: Packet, egress: number, sentBytes: number, queueBytes: number): void {
    // An acknowledgement carries back what its packet gathered.
    if (packet.opcode >= Opcode.Acknowledge) return
    const T = this.baseRttPs
    const gapPs = now - this.stampedPs[egress]!
    const bytesPerPs = this.bytesPerPs[egress]!
    // The first packet of a port, and two at one moment, have no rate.
    const sent = gapPs > 0 && gapPs < Infinity ? (sentBytes - this.stampedBytes[egress]!) / gapPs : 0
    const u = (queueBytes / T + sent) / bytesPerPs
    const weight = gapPs < T ? gapPs / T : 1
    const utilisation = (1 - weight) * this.utilisations[egress]! + weight * u
    this.utilisations[egress] = utilisation
    this.stampedPs[egress] = now
    this.stampedBytes[egress] = sentBytes
    const ordinal = this.ordinals[egress]!
    this.ordinals[egress] = ordinal + 1
    const digest = this.codec.encode(utilisation, uniform(this.seed, egress, ordinal))
    if (digest > packet.pint) packet.pint = digest
  }
}
