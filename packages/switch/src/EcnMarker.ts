import { uniform } from "@rdmakit/units"

/** RED marking of one egress port: none up to kmin, rising to pmax at kmax, all above (DCQCN §3.1, fig. 5). */
export interface EcnThresholds {
  readonly port: number
  readonly kminBytes: number
  readonly kmaxBytes: number
  /** Marking probability at kmax, 0 to 1. */
  readonly pmax: number
}

/** Draws for marking: a number in [0, 1) for the `ordinal`-th draw at a port. */
export interface EcnDraws {
  next(port: number): number
}

/** Draws that depend on seed, port and ordinal alone, whatever else happens in the network. */
export class HashedDraws implements EcnDraws {
  private readonly seed: number
  private readonly ordinals: Float64Array
  constructor(seed: number, ports: number) {
    this.seed = seed
    this.ordinals = new Float64Array(ports)
  }
  next(port: number): number {
    const ordinal = this.ordinals[port]!
    this.ordinals[port] = ordinal + 1
    return uniform(this.seed, port, ordinal)
  }
}

/** Thresholds of every port of a world; one table serves all switches. */
export class EcnMarker {
  private readonly kmin: Float64Array
  private readonly kmax: Float64Array
  private readonly pmax: Float64Array
  private readonly draws: EcnDraws

  constructor(ports: number, thresholds: ReadonlyArray<EcnThresholds>, draws: EcnDraws) {
    this.kmin = new Float64Array(ports).fill(Number.POSITIVE_INFINITY)
    this.kmax = new Float64Array(ports).fill(Number.POSITIVE_INFINITY)
    this.pmax = new Float64Array(ports)
    for (const t of thresholds) {
      this.kmin[t.port] = t.kminBytes
      this.kmax[t.port] = t.kmaxBytes
      this.pmax[t.port] = t.pmax
    }
    this.draws = draws
  }

  /** Bytes in a queue of the port up to which nothing is marked. */
  unmarkedBytes(port: number): number {
    return Math.min(2 ** 31 - 1, Math.floor(Math.min(this.kmin[port]!, this.kmax[port]!)))
  }

  /**
   * Whether to mark a packet that leaves `queueBytes` behind in its queue. kmin = kmax is a step, and so is, as in the ns-3
   * model (SwitchMmu::ShouldSendCN), a kmax below kmin: no draw is made.
   */
  marks(port: number, queueBytes: number): boolean {
    const kmax = this.kmax[port]!
    if (queueBytes > kmax) return true
    const kmin = this.kmin[port]!
    if (queueBytes <= kmin) return false
    return this.draws.next(port) < (this.pmax[port]! * (queueBytes - kmin)) / (kmax - kmin)
  }
}
