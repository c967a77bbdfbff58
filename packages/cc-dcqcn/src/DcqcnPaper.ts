import type { PathInfo, Time } from "@rdmakit/protocol"
import { CountingReactionPoint, INCREASE } from "./CountingReactionPoint.ts"
import type { DcqcnPaperOptions } from "./DcqcnOptions.ts"
import { type ReactionPointConstants, reactionPointConstants } from "./ReactionPoint.ts"

const ALPHA = 0

/** The options with their defaults, at one line rate. */
export interface DcqcnPaperConstants extends ReactionPointConstants {
  readonly gain: number
  readonly initialAlpha: number
  readonly alphaTimerPs: number
  readonly increaseTimerPs: number
  readonly byteCounterBytes: number
  readonly steps: number
  readonly additiveIncreaseBps: number
  readonly hyperIncreaseBps: number
  readonly minRateBps: number
  readonly cutFirst: boolean
}

export const dcqcnPaperConstants = (options: DcqcnPaperOptions, lineRateBps: number): DcqcnPaperConstants => ({
  ...reactionPointConstants(options, lineRateBps, 50e6),
  gain: options.gain ?? 1 / 256,
  initialAlpha: options.initialAlpha ?? 1,
  alphaTimerPs: options.alphaTimerPs ?? 55e6,
  increaseTimerPs: options.increaseTimerPs ?? 55e6,
  byteCounterBytes: options.byteCounterBytes ?? 10e6,
  steps: options.fastRecoverySteps ?? 5,
  additiveIncreaseBps: options.additiveIncreaseBps ?? 40e6,
  hyperIncreaseBps: options.hyperIncreaseBps ?? 200e6,
  minRateBps: Math.min(options.minRateBps ?? 100e6, lineRateBps),
  cutFirst: options.order !== "alpha-first",
})

/**
 * DCQCN as its paper has it (DCQCN §3.1, Equations 1 to 4): each notification cuts the rate by α / 2 and raises α; α
 * decays while none comes; a timer and a byte counter raise the rate, by fast recovery until one of them has counted F,
 * by R_AI until both have counted more, then by more and more R_HAI. A counter counts before it is looked at, so that
 * the F-th increase of one is the first additive one.
 *
 * Back at line rate the counters stand still: they start anew with the next notification anyway.
 */
export class DcqcnPaper extends CountingReactionPoint {
  private readonly constants: DcqcnPaperConstants

  constructor(constants: DcqcnPaperConstants, path: PathInfo) {
    super(constants, path)
    this.constants = constants
    this.targetRateBps = constants.lineRateBps
    this.alpha = constants.initialAlpha
  }

  protected notified(now: Time): boolean {
    const { alphaTimerPs, cutFirst, gain, increaseTimerPs, minRateBps } = this.constants
    const raised = (1 - gain) * this.alpha + gain
    this.targetRateBps = this.rate
    this.setRate(Math.max(minRateBps, this.rate * (1 - (cutFirst ? this.alpha : raised) / 2)))
    this.alpha = raised
    this.cuts++
    this.timers.set(ALPHA, now + alphaTimerPs)
    this.restartCounters(now, increaseTimerPs)
    return true
  }

  override onSent(_now: Time, bytes: number): void {
    if (!this.completesStretch(bytes, this.constants.byteCounterBytes)) return
    this.byteCount++
    this.increase()
  }

  onTimer(now: Time, timer: number): boolean {
    const { alphaTimerPs, gain, increaseTimerPs } = this.constants
    if (timer === ALPHA) {
      this.alpha = (1 - gain) * this.alpha
      this.timers.set(ALPHA, now + alphaTimerPs)
      return false
    }
    this.timerCount++
    this.timers.set(INCREASE, now + increaseTimerPs)
    this.increase()
    return true
  }

  private increase(): void {
    const { additiveIncreaseBps, hyperIncreaseBps, lineRateBps, steps } = this.constants
    const { byteCount, timerCount } = this
    const least = Math.min(timerCount, byteCount)
    if (least > steps) this.targetRateBps += (least - steps) * hyperIncreaseBps
    else if (Math.max(timerCount, byteCount) >= steps) this.targetRateBps += additiveIncreaseBps
    if (this.targetRateBps > lineRateBps) this.targetRateBps = lineRateBps
    this.approachTarget(lineRateBps)
  }
}
