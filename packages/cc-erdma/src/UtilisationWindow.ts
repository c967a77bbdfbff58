import { type Ack, AckController, type PathInfo, type Time } from "@rdmakit/protocol"
import { type HpccFamilyOptions, TARGET } from "./HpccOptions.ts"

/** Bits in a byte times ps in a second: bytes per ps, times this, are bit/s. */
const BIT_PS = 8e12
/** W_AI and the floor of the window, shares of the bandwidth-delay product. */
const INCREASE_SHARE = 1 / 100
const FLOOR_SHARE = 1 / 1000

/**
 * The structure of HPCC (HPCC §3.2, Algorithm 1) for whoever has no telemetry. A sample u of the utilisation comes of each
 * acknowledgement, as well as its feedback allows; U is their mean over a base round trip T, each weighed by the time since
 * the one before (τ / T, as in HPCC); and the window is
 *
 *     W = Wc · η / U + W_AI
 *
 * where Wc takes the value of W once a round trip, and every acknowledgement in between is answered relative to it. It is
 * HPCC's law with maxStage 0, which its authors simulated with. Losses are no sign of congestion here, as in HPCC.
 *
 * Ours: η is above 1, W reaches up to η bandwidth-delay products, and a timeout, after which nothing is known of the
 * network, halves Wc.
 */
export abstract class UtilisationWindow extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** W / T, never above the line's, bit/s. */
  rate: number = 0
  /** W, whole bytes. */
  window: number = 0

  protected readonly baseRttPs: number = 0
  protected unmeasured = 0
  private readonly lineRateBps: number = 0
  private readonly target: number = 0
  private readonly additiveIncreaseBytes: number = 0
  private readonly minWindowBytes: number = 0
  private readonly productBytes: number = 0
  private readonly windowed: boolean
  /** U, and when it was last measured, ps; -1 before it was. */
  private utilisation = 1
  private measuredAt: Time = -1
  private lastUpdateSequence = 0
  private referenceWindowBytes: number = 0
  private roundTrips = 0
  private timeouts = 0

  constructor(options: HpccFamilyOptions, path: PathInfo) {
    super()
    this.baseRttPs = path.baseRttPs
    this.lineRateBps = path.lineRateBps
    this.target = options.target ?? TARGET
    this.windowed = path.windowBytes > 0
    const product = this.windowed ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / BIT_PS
    this.productBytes = Math.max(1, product)
    this.additiveIncreaseBytes = options.additiveIncreaseBytes ?? this.productBytes * INCREASE_SHARE
    const floor = options.minWindowBytes ?? Math.max(1, this.productBytes * FLOOR_SHARE)
    this.minWindowBytes = Math.min(floor, this.productBytes)
    this.referenceWindowBytes = this.productBytes
    this.setWindow(this.productBytes)
  }

  /** A sample of the utilisation, at least 1; NaN when the acknowledgement tells nothing. */
  protected abstract sample(ack: Ack): number

  onAck(now: Time, ack: Ack): boolean {
    const u = this.sample(ack)
    if (!(u >= 1)) {
      this.unmeasured++
      return false
    }
    const T = this.baseRttPs
    const gap = this.measuredAt < 0 ? T : now - this.measuredAt
    const weight = gap < T ? gap / T : 1
    this.measuredAt = now
    this.utilisation = (1 - weight) * this.utilisation + weight * u
    const windowBytes = this.computeWindow()
    if (ack.sequence > this.lastUpdateSequence) {
      this.lastUpdateSequence = ack.sent
      this.referenceWindowBytes = windowBytes
      this.roundTrips++
    }
    this.setWindow(windowBytes)
    return true
  }

  override onLoss(_now: Time, timeout: boolean): boolean {
    if (!timeout) return false
    this.timeouts++
    this.referenceWindowBytes = Math.max(this.referenceWindowBytes / 2, this.minWindowBytes)
    this.setWindow(this.referenceWindowBytes)
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      utilisation: this.utilisation,
      referenceWindowBytes: this.referenceWindowBytes,
      lastUpdateSequence: this.lastUpdateSequence,
      roundTrips: this.roundTrips,
      timeouts: this.timeouts,
      unmeasured: this.unmeasured,
    }
  }

  private computeWindow(): number {
    const windowBytes = (this.referenceWindowBytes * this.target) / this.utilisation + this.additiveIncreaseBytes
    return Math.min(Math.max(windowBytes, this.minWindowBytes), this.productBytes * this.target)
  }

  private setWindow(windowBytes: number): void {
    this.rate = this.lineRateBps * Math.min(1, windowBytes / this.productBytes)
    this.window = this.windowed ? Math.max(1, Math.floor(windowBytes)) : Infinity
  }
}
