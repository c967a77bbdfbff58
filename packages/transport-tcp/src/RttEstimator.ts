import { DOUBLE_ZERO, type Time } from "@rdmakit/protocol"

/** The smoothed round trip and the timeout of it (RFC 6298). */
export class RttEstimator {
  /** SRTT and RTTVAR, ps; 0 before the first sample. */
  smoothedPs: Time = DOUBLE_ZERO
  private variationPs: Time = DOUBLE_ZERO
  /** The shortest round trip, ps; Infinity before the first. */
  leastPs: Time = Infinity
  private timeout: Time
  private readonly leastTimeoutPs: Time
  private readonly mostTimeoutPs: Time
  private readonly granularityPs: Time

  constructor(initialPs: Time, leastTimeoutPs: Time, mostTimeoutPs: Time, granularityPs: Time = 0) {
    this.timeout = initialPs
    this.leastTimeoutPs = leastTimeoutPs
    this.mostTimeoutPs = mostTimeoutPs
    this.granularityPs = granularityPs
  }

  /** The retransmission timeout before any backing off, ps. */
  get timeoutPs(): Time {
    return this.timeout
  }

  /** §2.2 and §2.3, with α = 1/8, β = 1/4 and K = 4. */
  sample(rttPs: Time): void {
    if (rttPs < this.leastPs) this.leastPs = rttPs
    if (this.smoothedPs === 0) {
      this.smoothedPs = rttPs
      this.variationPs = rttPs / 2
    } else {
      this.variationPs += (Math.abs(this.smoothedPs - rttPs) - this.variationPs) / 4
      this.smoothedPs += (rttPs - this.smoothedPs) / 8
    }
    const timeout = this.smoothedPs + Math.max(this.granularityPs, 4 * this.variationPs)
    this.timeout = Math.min(Math.max(timeout, this.leastTimeoutPs), this.mostTimeoutPs)
  }

  /** What `times` timeouts in a row make of it (§5.5), ps. */
  backedOff(times: number): Time {
    return Math.min(this.timeout * 2 ** times, this.mostTimeoutPs)
  }
}
