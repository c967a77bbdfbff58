import { AckController, DOUBLE_ZERO, type PathInfo } from "@rdmakit/protocol"

/** Bits in a byte times ps in a second: bytes per ps, times this, are bit/s. */
export const BIT_PS = 8e12

/** What ComputeWind is set to. */
export interface ComputeWindOptions {
  readonly eta?: number
  readonly maxStage?: number
  readonly additiveIncreaseBytes?: number
  readonly minWindowBytes?: number
  readonly reaction?: "both" | "per-ack" | "per-rtt"
}

/** What does not change, and mostly is the same for all flows of a network. */
export interface WindConstants {
  readonly lineRateBps: number
  readonly eta: number
  readonly maxStage: number
  readonly additiveIncreaseBytes: number
  readonly minWindowBytes: number
  readonly startWindowBytes: number
  readonly windowed: boolean
  readonly everyAck: boolean
  readonly everyAckFull: boolean
  readonly baseRttPs: number
  readonly timeModulusPs: number
  readonly bytesModulus: number
}

/** @param maxStage where the options name none */
export const windConstants = (options: ComputeWindOptions, path: PathInfo, maxStage: number): WindConstants => {
  const windowed = path.windowBytes > 0
  const product = windowed ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / BIT_PS
  const startWindowBytes = Math.max(1, product)
  return {
    lineRateBps: path.lineRateBps,
    eta: options.eta ?? 0.95,
    maxStage: options.maxStage ?? maxStage,
    additiveIncreaseBytes: options.additiveIncreaseBytes ?? 80,
    minWindowBytes: Math.min(options.minWindowBytes ?? startWindowBytes / 100, startWindowBytes),
    startWindowBytes,
    windowed,
    everyAck: options.reaction !== "per-rtt",
    everyAckFull: options.reaction === "per-ack",
    baseRttPs: path.baseRttPs,
    timeModulusPs: path.timeModulusPs,
    bytesModulus: path.bytesModulus,
  }
}

/**
 * The half of HPCC's Algorithm 1 (HPCC §3.2) that all its window forms share: from U, however it was measured, a window
 * W in bytes, spread over the base RTT by the rate W / T. How U comes about, and when, is the subclass's.
 */
export abstract class ComputeWind extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed. What will be a fraction
  // starts as one: see `DOUBLE_ZERO`.
  /** W / T, bit/s. */
  rate: number = DOUBLE_ZERO
  /** W, whole bytes. */
  window: number = 0

  /** What it has in common with other flows, and so lies in the cache. */
  protected readonly constants: WindConstants

  /** U */
  protected utilisation: number = DOUBLE_ZERO
  protected lastUpdateSequence = 0
  protected unmeasured = 0
  private referenceWindowBytes: number = DOUBLE_ZERO
  private stage = 0
  private fullUpdates = 0
  private fastReactions = 0

  constructor(constants: WindConstants) {
    super()
    this.constants = constants
    this.utilisation = 1
    this.referenceWindowBytes = constants.startWindowBytes
    this.rate = constants.lineRateBps
    this.window = constants.windowed ? Math.floor(constants.startWindowBytes) : Infinity
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      utilisation: this.utilisation,
      referenceWindowBytes: this.referenceWindowBytes,
      stage: this.stage,
      lastUpdateSequence: this.lastUpdateSequence,
      fullUpdates: this.fullUpdates,
      fastReactions: this.fastReactions,
      unmeasured: this.unmeasured,
    }
  }

  /** ComputeWind. `full` moves the reference window, which happens once a round trip. */
  protected computeWindow(full: boolean): void {
    const { constants } = this
    const { eta, startWindowBytes } = constants
    const multiplicative = this.utilisation >= eta || this.stage >= constants.maxStage
    const base = multiplicative ? this.referenceWindowBytes / (this.utilisation / eta) : this.referenceWindowBytes
    const windowBytes = Math.min(
      Math.max(base + constants.additiveIncreaseBytes, constants.minWindowBytes),
      startWindowBytes,
    )
    if (full) {
      this.referenceWindowBytes = windowBytes
      this.stage = multiplicative ? 0 : this.stage + 1
      this.fullUpdates++
    } else {
      this.fastReactions++
    }
    this.rate = (constants.lineRateBps * windowBytes) / startWindowBytes
    if (constants.windowed) this.window = Math.max(1, Math.floor(windowBytes))
  }
}
