import type { Ack } from "@rdmakit/protocol"

/** RFC 9406 §4.3. */
const MIN_RTT_THRESHOLD_PS = 4e9
const MAX_RTT_THRESHOLD_PS = 16e9
const MIN_RTT_DIVISOR = 8
const RTT_SAMPLES = 8
/** Conservative slow start: a quarter of the growth, for five rounds. */
const GROWTH_DIVISOR = 4
const CONSERVATIVE_ROUNDS = 5

/**
 * HyStart++ (RFC 9406): a slow start ends when round trips grow, before something is lost. A round ends with the
 * acknowledgement of what had been sent when it began; eight samples of a round are compared with the round before.
 *
 * Deviation: the thresholds of 4 and 16 ms are for the Internet. Where the shortest round trip is below 4 ms, an eighth of
 * it takes their place, as RFC 9406 §4.3 allows for other environments.
 */
export class HyStart {
  private windowEnd = 0
  private lastRoundRttPs: number = Infinity
  private roundRttPs: number = Infinity
  private samples = 0
  private conservative = false
  private baselineRttPs: number = Infinity
  private rounds = 0

  /** What of the usual growth this acknowledgement is worth: 1, a quarter, or 0 when the slow start is over. */
  acknowledged({ sequence, sent, rttPs }: Ack): number {
    if (sequence > this.windowEnd) this.beginRound(sent)
    if (rttPs > 0) {
      this.samples++
      if (rttPs < this.roundRttPs) this.roundRttPs = rttPs
    }
    if (this.samples >= RTT_SAMPLES && this.roundRttPs < Infinity && this.lastRoundRttPs < Infinity) this.compare()
    if (!this.conservative) return 1
    return this.rounds > CONSERVATIVE_ROUNDS ? 0 : 1 / GROWTH_DIVISOR
  }

  private beginRound(sent: number): void {
    this.windowEnd = sent
    this.lastRoundRttPs = this.roundRttPs
    this.roundRttPs = Infinity
    this.samples = 0
    if (this.conservative) this.rounds++
  }

  private compare(): void {
    if (this.conservative) {
      // The growth was a spurious one (§4.2).
      if (this.roundRttPs < this.baselineRttPs) {
        this.conservative = false
        this.baselineRttPs = Infinity
      }
      return
    }
    if (this.roundRttPs < this.lastRoundRttPs + thresholdPs(this.lastRoundRttPs)) return
    this.conservative = true
    this.baselineRttPs = this.roundRttPs
    this.rounds = 1
  }
}

const thresholdPs = (rttPs: number): number => {
  const eighth = rttPs / MIN_RTT_DIVISOR
  if (rttPs < MIN_RTT_THRESHOLD_PS) return eighth
  return Math.max(MIN_RTT_THRESHOLD_PS, Math.min(eighth, MAX_RTT_THRESHOLD_PS))
}
