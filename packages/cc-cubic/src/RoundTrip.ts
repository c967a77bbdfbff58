/** Weight of the newest sample (RFC 6298 §2.3). */
const ALPHA = 1 / 8

/** Round trips of a flow, ps: the latest, the shortest, and smoothed as RFC 6298 §2 does. */
export class RoundTrip {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  latestPs: number = 0
  /** Infinity before the first sample. */
  leastPs: number = Infinity
  /** SRTT; the path's base RTT before the first sample. */
  smoothedPs: number = 0

  constructor(baseRttPs: number) {
    this.latestPs = baseRttPs
    this.smoothedPs = baseRttPs
  }

  sample(rttPs: number): void {
    if (this.leastPs === Infinity) this.smoothedPs = rttPs
    else this.smoothedPs += (rttPs - this.smoothedPs) * ALPHA
    this.latestPs = rttPs
    if (rttPs < this.leastPs) this.leastPs = rttPs
  }
}
