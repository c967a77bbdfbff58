import { type Ack, AckController, type PathInfo, startWindow, type Time, windowAt } from "@rdmakit/protocol"
import { defaults, type TimelyNs3Options } from "./TimelyOptions.ts"

/** Increases in a row before the hyper-active one. */
const HYPER_AFTER = 5

/**
 * TIMELY as HPCC's ns-3 code has it, to the last bit: one update a round trip, RTTs in whole ns, integer rates that a
 * multiplication truncates. It differs from the paper in that the stage counts every increase, and in having a
 * separate hyper-active rate instead of N times δ.
 */
export class TimelyNs3 extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s, an integer. */
  rate: number = 0
  window: number = 0

  private readonly lineRateBps: number = 0
  private readonly minRateBps: number = 0
  private readonly additiveIncreaseBps: number = 0
  private readonly hyperIncreaseBps: number = 0
  private readonly alpha: number = 0
  private readonly beta: number = 0
  private readonly lowNs: number = 0
  private readonly highNs: number = 0
  private readonly minRttNs: number = 0
  private readonly windowBytes: number = 0
  private readonly variableWindow: boolean

  private stage = 0
  private lastUpdateSequence = 0
  private lastRttNs = 0
  private rttDiffNs = 0
  private gradient = 0

  private increases = 0
  private decreases = 0
  private unstamped = 0

  constructor(options: TimelyNs3Options, path: PathInfo) {
    super()
    const lineRateBps = Math.trunc(path.lineRateBps)
    this.lineRateBps = lineRateBps
    this.minRateBps = Math.min(options.minRateBps ?? 1e9, lineRateBps)
    this.additiveIncreaseBps = options.additiveIncreaseBps ?? Math.trunc(lineRateBps / 1000)
    this.hyperIncreaseBps = options.hyperIncreaseBps ?? Math.trunc(lineRateBps / 200)
    this.alpha = options.alpha ?? defaults.alpha
    this.beta = options.beta ?? defaults.beta
    this.lowNs = (options.lowThresholdPs ?? defaults.lowThresholdPs) / 1000
    this.highNs = (options.highThresholdPs ?? defaults.highThresholdPs) / 1000
    this.minRttNs = (options.minRttPs ?? defaults.minRttPs) / 1000
    this.windowBytes = startWindow(options.window, path)
    this.variableWindow = options.window === "variable" && this.windowBytes < Infinity
    this.rate = lineRateBps
    this.window = this.windowBytes
  }

  onAck(_now: Time, ack: Ack): boolean {
    if (!(ack.rttPs >= 0 && ack.rttPs < Infinity)) {
      this.unstamped++
      return false
    }
    // The first acknowledgement of a byte that was sent after the last update; the others are not looked at.
    if (!(ack.sequence > this.lastUpdateSequence)) return false
    const rttNs = Math.trunc(ack.rttPs / 1000)
    const first = this.lastUpdateSequence === 0
    if (!first) this.update(rttNs)
    if (ack.sent > this.lastUpdateSequence) {
      this.lastUpdateSequence = ack.sent
      this.lastRttNs = rttNs
    }
    return !first
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      gradient: this.gradient,
      stage: this.stage,
      lastUpdateSequence: this.lastUpdateSequence,
      increases: this.increases,
      decreases: this.decreases,
      unstamped: this.unstamped,
      rttDiffNs: this.rttDiffNs,
      lastRttNs: this.lastRttNs,
    }
  }

  private update(rttNs: number): void {
    this.rttDiffNs = (1 - this.alpha) * this.rttDiffNs + this.alpha * (rttNs - this.lastRttNs)
    this.gradient = this.rttDiffNs / this.minRttNs
    if (rttNs < this.lowNs) this.increase()
    else if (rttNs > this.highNs) this.decrease(1 - this.beta * (1 - this.highNs / rttNs))
    else if (this.gradient <= 0) this.increase()
    else this.decrease(Math.max(0, 1 - this.beta * this.gradient))
  }

  private increase(): void {
    const step = this.stage < HYPER_AFTER ? this.additiveIncreaseBps : this.hyperIncreaseBps
    const rate = this.rate + step
    this.stage++
    this.increases++
    this.setRate(rate > this.lineRateBps ? this.lineRateBps : rate)
  }

  private decrease(factor: number): void {
    const rate = Math.trunc(this.rate * factor)
    this.stage = 0
    this.decreases++
    this.setRate(rate < this.minRateBps ? this.minRateBps : rate)
  }

  private setRate(rate: number): void {
    if (rate === this.rate) return
    this.rate = rate
    if (this.variableWindow) this.window = windowAt(this.windowBytes, rate, this.lineRateBps)
  }
}
