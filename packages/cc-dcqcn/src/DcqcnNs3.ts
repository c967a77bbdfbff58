import type { PathInfo, Time } from "@rdmakit/protocol"
import type { DcqcnNs3Options } from "./DcqcnOptions.ts"
import { ReactionPoint, type ReactionPointConstants, reactionPointConstants } from "./ReactionPoint.ts"

// In the order in which one event of the original sets them.
const ALPHA = 0
const CUT = 1
const INCREASE = 2

const NANOSECOND = 1000

/** The options with their defaults, at one line rate. */
export interface DcqcnNs3Constants extends ReactionPointConstants {
  readonly gain: number
  readonly alphaPeriodPs: number
  readonly cutPeriodPs: number
  readonly alphaOffsetPs: number
  readonly cutOffsetPs: number
  readonly increasePeriodPs: number
  readonly threshold: number
  readonly clamps: boolean
  readonly rateOnFirstCnp: number
  readonly additiveIncreaseBps: number
  readonly hyperIncreaseBps: number
  readonly minRateBps: number
}

/** `lineRateBps`: whole bit/s. */
export const dcqcnNs3Constants = (options: DcqcnNs3Options, lineRateBps: number): DcqcnNs3Constants => {
  const cutFirst = options.order === "cut-first"
  return {
    ...reactionPointConstants(options, lineRateBps, 0),
    gain: options.ewmaGain ?? 1 / 256,
    alphaPeriodPs: options.alphaResumeIntervalPs ?? 1e6,
    cutPeriodPs: options.rateDecreaseIntervalPs ?? 4e6,
    alphaOffsetPs: cutFirst ? NANOSECOND : 0,
    cutOffsetPs: cutFirst ? 0 : NANOSECOND,
    increasePeriodPs: options.rpTimerPs ?? 300e6,
    threshold: options.fastRecoveryTimes ?? 1,
    clamps: options.clampTargetRate ?? false,
    rateOnFirstCnp: options.rateOnFirstCnp ?? 1,
    additiveIncreaseBps: options.additiveIncreaseBps ?? Math.trunc(lineRateBps / 5000),
    hyperIncreaseBps: options.hyperIncreaseBps ?? Math.trunc(lineRateBps / 500),
    minRateBps: Math.min(options.minRateBps ?? 1e9, lineRateBps),
  }
}

/**
 * DCQCN as HPCC's ns-3 code has it ("Mellanox's version", CC_MODE 1), to the last bit: integer rates that a
 * multiplication truncates, and three timers. From the first notification on, α is updated in one period and the rate
 * cut in another, where a notification came since, 1 ns after the update of α; the increases count from the last cut.
 * It differs from the paper in that it has no byte counter, and counts an increase after it is made.
 */
export class DcqcnNs3 extends ReactionPoint {
  private readonly constants: DcqcnNs3Constants
  private targetRateBps: number = 0
  private alpha = 1
  private stage = 0
  private first = true
  private alphaNotified = false
  private cutNotified = false

  constructor(constants: DcqcnNs3Constants, path: PathInfo) {
    super(constants, path, 3)
    this.constants = constants
    this.targetRateBps = constants.lineRateBps
  }

  protected notified(now: Time): boolean {
    this.alphaNotified = true
    this.cutNotified = true
    if (!this.first) return false
    const { constants, timers } = this
    this.first = false
    this.alpha = 1
    this.alphaNotified = false
    timers.set(ALPHA, now + constants.alphaPeriodPs + constants.alphaOffsetPs)
    timers.set(CUT, now + constants.cutPeriodPs + constants.cutOffsetPs)
    // At a factor of 0 the original stands still for ever: here it goes on at the least rate.
    this.setRate(Math.max(constants.minRateBps, Math.trunc(this.rate * constants.rateOnFirstCnp)))
    this.targetRateBps = this.rate
    return true
  }

  onTimer(now: Time, timer: number): boolean {
    if (timer === ALPHA) return this.updateAlpha(now)
    return timer === CUT ? this.checkCut(now) : this.increase(now)
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      alpha: this.alpha,
      targetRateBps: this.targetRateBps,
      stage: this.stage,
      notifications: this.notifications,
      cuts: this.cuts,
      increases: this.increases,
    }
  }

  private updateAlpha(now: Time): boolean {
    const { alphaPeriodPs, gain } = this.constants
    this.alpha = this.alphaNotified ? (1 - gain) * this.alpha + gain : (1 - gain) * this.alpha
    this.alphaNotified = false
    this.timers.set(ALPHA, now + alphaPeriodPs)
    return false
  }

  private checkCut(now: Time): boolean {
    const { clamps, cutPeriodPs, increasePeriodPs, minRateBps } = this.constants
    this.timers.set(CUT, now + cutPeriodPs)
    if (!this.cutNotified) return false
    if (clamps || this.stage !== 0) this.targetRateBps = this.rate
    this.setRate(Math.max(minRateBps, Math.trunc(this.rate * (1 - this.alpha / 2))))
    this.stage = 0
    this.cutNotified = false
    this.cuts++
    this.timers.set(INCREASE, now + increasePeriodPs)
    return true
  }

  private increase(now: Time): boolean {
    const { additiveIncreaseBps, hyperIncreaseBps, increasePeriodPs, lineRateBps, threshold } = this.constants
    this.timers.set(INCREASE, now + increasePeriodPs)
    if (this.stage >= threshold) {
      const target = this.targetRateBps + (this.stage === threshold ? additiveIncreaseBps : hyperIncreaseBps)
      this.targetRateBps = target > lineRateBps ? lineRateBps : target
    }
    this.setRate(Math.trunc(this.rate / 2) + Math.trunc(this.targetRateBps / 2))
    this.stage++
    this.increases++
    return true
  }
}
