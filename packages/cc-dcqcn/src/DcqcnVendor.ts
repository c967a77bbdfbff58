import { NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { CountingReactionPoint, INCREASE } from "./CountingReactionPoint.ts"
import type { DcqcnVendorOptions } from "./DcqcnOptions.ts"
import { type ReactionPointConstants, reactionPointConstants } from "./ReactionPoint.ts"

const CUT = 0

/** The options with their defaults, at one line rate. */
export interface DcqcnVendorConstants extends ReactionPointConstants {
  readonly weight: number
  readonly alphaPeriodPs: number
  readonly initialAlpha: number
  readonly firstRateBps: number
  readonly cutPeriodPs: number
  readonly leastFactor: number
  readonly share: number
  readonly minRateBps: number
  readonly maxRateBps: number
  readonly increasePeriodPs: number
  readonly byteResetBytes: number
  readonly threshold: number
  readonly additiveIncreaseBps: number
  readonly hyperIncreaseBps: number
  readonly clamps: boolean
  readonly clampsAfterTimer: boolean
  readonly alphaFirst: boolean
}

export const dcqcnVendorConstants = (options: DcqcnVendorOptions, lineRateBps: number): DcqcnVendorConstants => {
  const maxRateBps = Math.min(options.rpgMaxRateBps || lineRateBps, lineRateBps)
  const minRateBps = Math.min(options.rpgMinRateBps ?? 1e6, maxRateBps)
  const firstRateBps = options.rateToSetOnFirstCnpBps || (options.firstCnpRateFactor ?? 0.85) * lineRateBps
  return {
    ...reactionPointConstants(options, lineRateBps, 4e6),
    weight: (options.dceTcpG ?? 1019) / 1024,
    alphaPeriodPs: options.dceTcpRttPs ?? 1e6,
    initialAlpha: (options.initialAlphaValue ?? 1023) / 1024,
    firstRateBps: Math.min(Math.max(firstRateBps, minRateBps), maxRateBps),
    cutPeriodPs: options.rateReduceMonitorPeriodPs ?? 4e6,
    leastFactor: (options.rpgMinDecFac ?? 50) / 100,
    share: options.rpgGd === 10 ? 1 : 0.5,
    minRateBps,
    maxRateBps,
    increasePeriodPs: options.rpgTimeResetPs ?? 300e6,
    byteResetBytes: options.rpgByteResetBytes ?? 32_767 * 64,
    threshold: options.rpgThreshold ?? 1,
    additiveIncreaseBps: options.rpgAiRateBps ?? 5e6,
    hyperIncreaseBps: options.rpgHaiRateBps ?? 50e6,
    clamps: options.clampTgtRate ?? false,
    clampsAfterTimer: options.clampTgtRateAfterTimeInc ?? true,
    alphaFirst: options.order !== "cut-first",
  }
}

/**
 * DCQCN as ConnectX adapters have it, by NVIDIA's "DCQCN parameters". The first notification sets rate and target to a
 * given rate, and starts two periods: at the end of each of the one, α moves towards 1 where a notification came within
 * it, towards 0 where none did; at the end of each of the other, the rate is cut where one came. A timer and a byte
 * counter raise the rate: `threshold` times by fast recovery, then by rpg_ai_rate, and by rpg_hai_rate once both have
 * counted more.
 *
 * Periods in which nothing happens cost nothing: α is worked out when it is needed, of which `metrics` has the last, and a
 * cut has a timer only once a notification has come.
 */
export class DcqcnVendor extends CountingReactionPoint {
  private readonly constants: DcqcnVendorConstants
  /** End of the last period that is in `alpha`. */
  private alphaPs: number = 0
  private alphaNotified = false
  /** When the first period between cuts began: the time of the first notification. */
  private firstPs: number = -1

  constructor(constants: DcqcnVendorConstants, path: PathInfo) {
    super(constants, path)
    this.constants = constants
    this.alpha = constants.initialAlpha
    this.targetRateBps = constants.maxRateBps
    this.setRate(constants.maxRateBps)
  }

  protected notified(now: Time): boolean {
    const { constants, timers } = this
    if (this.firstPs < 0) {
      this.firstPs = now
      this.alphaPs = now
      this.targetRateBps = constants.firstRateBps
      this.setRate(constants.firstRateBps)
      this.restartCounters(now, constants.increasePeriodPs)
      this.cuts++
      return true
    }
    this.advanceAlpha(Math.floor((now - this.alphaPs) / constants.alphaPeriodPs))
    this.alphaNotified = true
    if (timers.due[CUT] === NEVER) {
      const periods = Math.floor((now - this.firstPs) / constants.cutPeriodPs) + 1
      timers.set(CUT, this.firstPs + periods * constants.cutPeriodPs)
    }
    return false
  }

  override onSent(_now: Time, bytes: number): void {
    if (!this.completesStretch(bytes, this.constants.byteResetBytes)) return
    this.increase()
    this.byteCount++
  }

  onTimer(now: Time, timer: number): boolean {
    // Increases count from a cut, so both are often due at one moment: the cut it is, whichever timer is looked at first.
    if (timer === CUT || this.timers.due[CUT]! <= now) {
      this.timers.cancel(CUT)
      this.cut(now)
      return true
    }
    this.timers.set(INCREASE, now + this.constants.increasePeriodPs)
    this.increase()
    this.timerCount++
    return true
  }

  private cut(now: Time): void {
    const { alphaFirst, alphaPeriodPs, increasePeriodPs, clamps, clampsAfterTimer, leastFactor, minRateBps, share } =
      this.constants
    const periods = (now - this.alphaPs) / alphaPeriodPs
    this.advanceAlpha(alphaFirst ? Math.floor(periods) : Math.ceil(periods) - 1)
    if (clamps || this.byteCount > 0 || (clampsAfterTimer && this.timerCount > 0)) this.targetRateBps = this.rate
    this.setRate(Math.max(minRateBps, this.rate * Math.max(leastFactor, 1 - this.alpha * share)))
    this.restartCounters(now, increasePeriodPs)
    this.cuts++
  }

  /** Takes in `periods` that have ended: a notification, if any, came in the first of them. */
  private advanceAlpha(periods: number): void {
    if (periods < 1) return
    const { alphaPeriodPs, weight } = this.constants
    this.alphaPs += periods * alphaPeriodPs
    if (this.alphaNotified) {
      this.alphaNotified = false
      this.alpha = weight * this.alpha + (1 - weight)
      this.alpha *= power(weight, periods - 1)
    } else this.alpha *= power(weight, periods)
  }

  private increase(): void {
    const { additiveIncreaseBps, hyperIncreaseBps, maxRateBps, threshold } = this.constants
    if (Math.min(this.timerCount, this.byteCount) > threshold) this.targetRateBps += hyperIncreaseBps
    else if (Math.max(this.timerCount, this.byteCount) >= threshold) this.targetRateBps += additiveIncreaseBps
    if (this.targetRateBps > maxRateBps) this.targetRateBps = maxRateBps
    this.approachTarget(maxRateBps)
  }
}

/** base^exponent by squaring; the exponent is whole, 0 or more. */
const power = (base: number, exponent: number): number => {
  let result = 1
  let square = base
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result *= square
    square *= square
  }
  return result
}
