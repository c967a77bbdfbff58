import { type Ack, AckController, type PathInfo, startWindow, type Time, windowAt } from "@rdmakit/protocol"
import { defaults, type TimelyPaperOptions } from "./TimelyOptions.ts"

/**
 * TIMELY as its paper has it (TIMELY §4.3, Algorithm 1): a completion event for every segment, the RTT gradient
 * smoothed and normalised, hyper-active increase after N completions in a row without a positive gradient.
 *
 * What the paper leaves open is settled here. The RTT of a segment is that of the packet whose acknowledgement completes
 * it, so no serialization time of a segment is in it to take off. A flow starts at line rate. The rate has a floor, and
 * no step more than halves it.
 */
export class TimelyPaper extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s. */
  rate: number = 0
  window: number = 0

  private readonly lineRateBps: number = 0
  private readonly minRateBps: number = 0
  private readonly leastFactor: number = 0
  private readonly additiveIncreaseBps: number = 0
  private readonly segmentBytes: number = 0
  private readonly hyperAfter: number = 0
  private readonly hyperFactor: number = 0
  private readonly alpha: number = 0
  private readonly beta: number = 0
  private readonly lowPs: number = 0
  private readonly highPs: number = 0
  private readonly minRttPs: number = 0
  private readonly windowBytes: number = 0
  private readonly variableWindow: boolean

  private segmentBytesAcked = 0
  private lastRttPs = Number.NaN
  private rttDiffPs = 0
  private gradient = 0
  private calm = 0

  private completions = 0
  private increases = 0
  private decreases = 0
  private unstamped = 0

  constructor(options: TimelyPaperOptions, path: PathInfo) {
    super()
    this.lineRateBps = path.lineRateBps
    this.minRateBps = Math.min(options.minRateBps ?? 100e6, path.lineRateBps)
    this.leastFactor = options.leastFactor ?? 0.5
    this.additiveIncreaseBps = options.additiveIncreaseBps ?? 10e6
    this.segmentBytes = options.segmentBytes ?? 64 * 1024
    this.hyperAfter = options.hyperAfter ?? 5
    this.hyperFactor = options.hyperFactor ?? 5
    this.alpha = options.alpha ?? defaults.alpha
    this.beta = options.beta ?? defaults.beta
    this.lowPs = options.lowThresholdPs ?? defaults.lowThresholdPs
    this.highPs = options.highThresholdPs ?? defaults.highThresholdPs
    this.minRttPs = options.minRttPs ?? defaults.minRttPs
    this.windowBytes = startWindow(options.window, path)
    this.variableWindow = options.window === "variable" && this.windowBytes < Infinity
    this.rate = path.lineRateBps
    this.window = this.windowBytes
  }

  onAck(_now: Time, ack: Ack): boolean {
    this.segmentBytesAcked += ack.bytes
    if (!(ack.rttPs >= 0 && ack.rttPs < Infinity)) {
      this.unstamped++
      return false
    }
    if (this.segmentBytesAcked < this.segmentBytes) return false
    // One acknowledgement is one completion event, however many segments it covers.
    this.segmentBytesAcked %= this.segmentBytes
    this.completions++
    const lastRttPs = this.lastRttPs
    this.lastRttPs = ack.rttPs
    if (Number.isNaN(lastRttPs)) return false
    this.rttDiffPs = (1 - this.alpha) * this.rttDiffPs + this.alpha * (ack.rttPs - lastRttPs)
    this.gradient = this.rttDiffPs / this.minRttPs
    this.calm = this.gradient <= 0 ? this.calm + 1 : 0
    this.setRate(this.next(ack.rttPs))
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      gradient: this.gradient,
      calm: this.calm,
      completions: this.completions,
      increases: this.increases,
      decreases: this.decreases,
      unstamped: this.unstamped,
      rttDiffPs: this.rttDiffPs,
    }
  }

  private next(rttPs: number): number {
    if (rttPs < this.lowPs) {
      this.increases++
      return this.rate + this.additiveIncreaseBps
    }
    if (rttPs > this.highPs) {
      this.decreases++
      return this.rate * Math.max(this.leastFactor, 1 - this.beta * (1 - this.highPs / rttPs))
    }
    if (this.gradient <= 0) {
      this.increases++
      return this.rate + (this.calm >= this.hyperAfter ? this.hyperFactor : 1) * this.additiveIncreaseBps
    }
    this.decreases++
    return this.rate * Math.max(this.leastFactor, 1 - this.beta * this.gradient)
  }

  private setRate(rate: number): void {
    this.rate = Math.min(Math.max(rate, this.minRateBps), this.lineRateBps)
    if (this.variableWindow) this.window = windowAt(this.windowBytes, this.rate, this.lineRateBps)
  }
}
