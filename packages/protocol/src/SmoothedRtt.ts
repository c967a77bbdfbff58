import { DOUBLE_ZERO, type Time } from "./Time.ts"

/** RFC 6298 §2.3: what the newest sample weighs. */
const ALPHA = 1 / 8
const BETA = 1 / 4

/** Round trips as RFC 6298 §2 smooths them, ps: for transports and for controllers that go by them. */
export class SmoothedRtt {
  /** SRTT; before the first sample what it was made with. */
  smoothedPs: Time = DOUBLE_ZERO
  /** RTTVAR; 0 before the first sample. */
  variationPs: Time = DOUBLE_ZERO
  /** The shortest; Infinity before the first. */
  leastPs: Time = Infinity

  /** @param smoothedPs what is taken for SRTT as long as there is no sample, ps */
  constructor(smoothedPs: Time = DOUBLE_ZERO) {
    this.smoothedPs = smoothedPs
  }

  /** §2.2 for the first sample, §2.3 for all others. */
  sample(rttPs: Time): void {
    if (this.leastPs === Infinity) {
      this.smoothedPs = rttPs
      this.variationPs = rttPs / 2
    } else {
      this.variationPs += (Math.abs(this.smoothedPs - rttPs) - this.variationPs) * BETA
      this.smoothedPs += (rttPs - this.smoothedPs) * ALPHA
    }
    if (rttPs < this.leastPs) this.leastPs = rttPs
  }

  /** RTO, with K = 4, ps: without a floor, and before any backing off. @param granularityPs §2's G */
  retransmissionPs(granularityPs: Time = 0): Time {
    return this.smoothedPs + Math.max(granularityPs, 4 * this.variationPs)
  }
}
