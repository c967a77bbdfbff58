import { DOUBLE_ZERO } from "@rdmakit/protocol"

/** RFC 6298 §2.3: weights of the newest sample; §2.2: how many variations a timeout is beyond the smoothed round trip. */
const ALPHA = 1 / 8
const BETA = 1 / 4
const K = 4

/** Round trips of a flow, ps: the latest, the shortest, and smoothed as RFC 6298 §2 does. */
export class RoundTrip {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  latestPs: number = DOUBLE_ZERO
  /** Infinity before the first sample. */
  leastPs: number = Infinity
  /** SRTT; the path's base RTT before the first sample. */
  smoothedPs: number = 0
  private variationPs: number = DOUBLE_ZERO

  constructor(baseRttPs: number) {
    this.latestPs = baseRttPs
    this.smoothedPs = baseRttPs
  }

  sample(rttPs: number): void {
    if (this.leastPs === Infinity) {
      this.smoothedPs = rttPs
      this.variationPs = rttPs / 2
    } else {
      this.variationPs += (Math.abs(this.smoothedPs - rttPs) - this.variationPs) * BETA
      this.smoothedPs += (rttPs - this.smoothedPs) * ALPHA
    }
    this.latestPs = rttPs
    if (rttPs < this.leastPs) this.leastPs = rttPs
  }

  /** The retransmission timeout before any backing off and without a floor (RFC 6298 §2.2 and §2.3). */
  get timeoutPs(): number {
    return this.smoothedPs + K * this.variationPs
  }
}
