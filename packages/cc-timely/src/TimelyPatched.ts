import { type Ack, AckController, type PathInfo, startWindow, type Time, windowAt } from "@rdmakit/protocol"
import { patchedDefaults, type TimelyPatchedOptions } from "./TimelyOptions.ts"

/** RTTs in a row below the one before, after which δ counts five times (eRPC). */
const HYPER_AFTER = 5
const HYPER_FACTOR = 5

/** w(g) of "ECN or Delay" §4: how far a gradient counts as congestion, 0 to 1, linear around 0. */
const weight = (gradient: number): number => (gradient <= -0.25 ? 0 : gradient >= 0.25 ? 1 : 2 * gradient + 0.5)

/**
 * TIMELY with the patch of "ECN or Delay" (Zhu et al., CoNEXT 2016, §4), which gives it a unique fixed point: the
 * decrease is in proportion to how far the RTT is above T_low, and a continuous weight takes the place of the jump at
 * gradient 0. The form is that of eRPC's timely.h: every acknowledgement counts, steps are scaled by the time since the
 * last one (in least RTTs, at most 1), and no step more than halves the rate.
 *
 * As in eRPC, a sample below the least RTT is passed over.
 */
export class TimelyPatched extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s. */
  rate: number = 0
  window: number = 0

  private readonly lineRateBps: number = 0
  private readonly minRateBps: number = 0
  private readonly additiveIncreaseBps: number = 0
  private readonly alpha: number = 0
  private readonly beta: number = 0
  private readonly lowPs: number = 0
  private readonly highPs: number = 0
  private readonly minRttPs: number = 0
  private readonly weighted: boolean
  private readonly windowBytes: number = 0
  private readonly variableWindow: boolean

  private lastRttPs: number = 0
  private lastUpdatePs: number = 0
  private rttDiffPs = 0
  private gradient = 0
  private falling = 0

  private increases = 0
  private decreases = 0
  private unstamped = 0
  private belowMinRtt = 0

  constructor(options: TimelyPatchedOptions, now: Time, path: PathInfo) {
    super()
    this.lineRateBps = path.lineRateBps
    this.minRateBps = Math.min(options.minRateBps ?? 120e6, path.lineRateBps)
    this.additiveIncreaseBps = options.additiveIncreaseBps ?? 40e6
    this.alpha = options.alpha ?? patchedDefaults.alpha
    this.beta = options.beta ?? patchedDefaults.beta
    this.lowPs = options.lowThresholdPs ?? patchedDefaults.lowThresholdPs
    this.highPs = options.highThresholdPs ?? patchedDefaults.highThresholdPs
    this.minRttPs = options.minRttPs ?? patchedDefaults.minRttPs
    this.weighted = options.law !== "gradient"
    this.windowBytes = startWindow(options.window, path)
    this.variableWindow = options.window === "variable" && this.windowBytes < Infinity
    this.lastRttPs = this.minRttPs
    this.lastUpdatePs = now
    this.rate = path.lineRateBps
    this.window = this.windowBytes
  }

  onAck(now: Time, ack: Ack): boolean {
    const { rttPs } = ack
    if (!(rttPs >= 0 && rttPs < Infinity)) {
      this.unstamped++
      return false
    }
    if (rttPs < this.minRttPs) {
      this.belowMinRtt++
      return false
    }
    const differencePs = rttPs - this.lastRttPs
    this.falling = differencePs < 0 ? this.falling + 1 : 0
    this.rttDiffPs = (1 - this.alpha) * this.rttDiffPs + this.alpha * differencePs
    this.gradient = this.rttDiffPs / this.minRttPs
    const share = Math.min((now - this.lastUpdatePs) / this.minRttPs, 1)
    const before = this.rate
    const rate = Math.max(this.next(rttPs, this.additiveIncreaseBps * share, this.beta * share), before * 0.5)
    this.rate = Math.max(Math.min(rate, this.lineRateBps), this.minRateBps)
    if (rate < before) this.decreases++
    else this.increases++
    if (this.variableWindow) this.window = windowAt(this.windowBytes, this.rate, this.lineRateBps)
    this.lastRttPs = rttPs
    this.lastUpdatePs = now
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      gradient: this.gradient,
      increases: this.increases,
      decreases: this.decreases,
      unstamped: this.unstamped,
      belowMinRtt: this.belowMinRtt,
      rttDiffPs: this.rttDiffPs,
    }
  }

  private next(rttPs: number, stepBps: number, beta: number): number {
    if (rttPs < this.lowPs) return this.rate + stepBps
    if (rttPs > this.highPs) return this.rate * (1 - beta * (1 - this.highPs / rttPs))
    if (this.weighted) {
      const w = weight(this.gradient)
      const error = (rttPs - this.lowPs) / this.lowPs
      return this.rate * (1 - beta * w * error) + stepBps * (1 - w)
    }
    if (this.gradient <= 0) return this.rate + (this.falling >= HYPER_AFTER ? HYPER_FACTOR : 1) * stepBps
    return this.rate * (1 - beta * this.gradient)
  }
}
