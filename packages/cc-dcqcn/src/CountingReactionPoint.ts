import { DOUBLE_ZERO, type PathInfo, type Time } from "@rdmakit/protocol"
import { ReactionPoint, type ReactionPointConstants } from "./ReactionPoint.ts"

/** The timer of increases; number 0 is the variant's. */
export const INCREASE = 1

/**
 * A reaction point that recovers as QCN does: a timer and a byte counter, which count anew from each cut, raise the rate
 * halfway to a target until it is back at its most. What the counters do to the target is the variant's.
 */
export abstract class CountingReactionPoint extends ReactionPoint {
  protected targetRateBps: number = 0
  protected alpha: number = DOUBLE_ZERO
  /** T and BC of the paper. */
  protected timerCount = 0
  protected byteCount = 0
  private bytes = 0
  /** There was a cut, and the rate is not yet back at its most. */
  private limited = false

  constructor(shared: ReactionPointConstants, path: PathInfo) {
    super(shared, path, 2)
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      alpha: this.alpha,
      targetRateBps: this.targetRateBps,
      timerCount: this.timerCount,
      byteCount: this.byteCount,
      notifications: this.notifications,
      cuts: this.cuts,
      increases: this.increases,
    }
  }

  /** The counters begin anew, the timer's next increase is due a period later. */
  protected restartCounters(now: Time, periodPs: Time): void {
    this.timerCount = 0
    this.byteCount = 0
    this.bytes = 0
    this.limited = true
    this.timers.set(INCREASE, now + periodPs)
  }

  /**
   * Bytes were sent. True when they complete a stretch of `stretchBytes`, once at most: one packet is one increase. Never
   * where that is 0, nor while the rate is at its most.
   */
  protected completesStretch(bytes: number, stretchBytes: number): boolean {
    if (!this.limited || stretchBytes === 0) return false
    this.bytes += bytes
    if (this.bytes < stretchBytes) return false
    this.bytes %= stretchBytes
    return true
  }

  /** The rate goes halfway to the target. At `mostBps` the counters stand still until the next cut. */
  protected approachTarget(mostBps: number): void {
    this.increases++
    const rate = (this.targetRateBps + this.rate) / 2
    // Halving the distance never quite gets there.
    if (mostBps - rate >= 1) {
      this.setRate(rate)
      return
    }
    this.setRate(mostBps)
    this.limited = false
    this.timers.cancel(INCREASE)
  }
}
