import { AckController, type PathInfo } from "@rdmakit/protocol"

/** Bits in a byte times ps in a second: bytes per ps, times this, are bit/s. */
export const BITS_PER_SECOND = 8e12

/** What ComputeWind is set to. */
export interface ComputeWindOptions {
  readonly eta?: number
  readonly maxStage?: number
  readonly additiveIncreaseBytes?: number
  readonly minWindowBytes?: number
  readonly reaction?: "both" | "per-ack" | "per-rtt"
}

/**
 * The half of HPCC's Algorithm 1 (HPCC §3.2) that all its window forms share: from U, however it was measured, a window
 * W in bytes, spread over the base RTT by the rate W / T. How U comes about, and when, is the subclass's.
 */
export abstract class ComputeWind extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** W / T, bit/s. */
  rate: number = 0
  /** W, whole bytes. */
  window: number = 0

  private readonly lineRateBps: number = 0
  private readonly eta: number = 0
  private readonly maxStage: number = 0
  private readonly additiveIncreaseBytes: number = 0
  private readonly minWindowBytes: number = 0
  private readonly startWindowBytes: number = 0
  private readonly windowed: boolean
  protected readonly everyAck: boolean
  protected readonly everyAckFull: boolean

  /** U */
  protected utilisation = 1
  protected lastUpdateSequence = 0
  protected unmeasured = 0
  private referenceWindowBytes: number = 0
  private stage = 0
  private fullUpdates = 0
  private fastReactions = 0

  constructor(options: ComputeWindOptions, path: PathInfo, maxStage: number) {
    super()
    this.lineRateBps = path.lineRateBps
    this.eta = options.eta ?? 0.95
    this.maxStage = options.maxStage ?? maxStage
    this.additiveIncreaseBytes = options.additiveIncreaseBytes ?? 80
    this.everyAckFull = options.reaction === "per-ack"
    this.everyAck = options.reaction !== "per-rtt"
    this.windowed = path.windowBytes > 0
    const product = this.windowed ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / BITS_PER_SECOND
    this.startWindowBytes = Math.max(1, product)
    this.minWindowBytes = Math.min(options.minWindowBytes ?? this.startWindowBytes / 100, this.startWindowBytes)
    this.referenceWindowBytes = this.startWindowBytes
    this.rate = path.lineRateBps
    this.window = this.windowed ? Math.floor(this.startWindowBytes) : Infinity
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
    const multiplicative = this.utilisation >= this.eta || this.stage >= this.maxStage
    const base = multiplicative ? this.referenceWindowBytes / (this.utilisation / this.eta) : this.referenceWindowBytes
    const windowBytes = Math.min(
      Math.max(base + this.additiveIncreaseBytes, this.minWindowBytes),
      this.startWindowBytes,
    )
    if (full) {
      this.referenceWindowBytes = windowBytes
      this.stage = multiplicative ? 0 : this.stage + 1
      this.fullUpdates++
    } else {
      this.fastReactions++
    }
    this.rate = (this.lineRateBps * windowBytes) / this.startWindowBytes
    if (this.windowed) this.window = Math.max(1, Math.floor(windowBytes))
  }
}
