import { SmoothedRtt, type Time } from "@rdmakit/protocol"

/** The smoothed round trip and the timeout of it (RFC 6298). */
export class RttEstimator extends SmoothedRtt {
  private timeout: Time
  private readonly leastTimeoutPs: Time
  private readonly mostTimeoutPs: Time
  private readonly granularityPs: Time

  constructor(initialPs: Time, leastTimeoutPs: Time, mostTimeoutPs: Time, granularityPs: Time = 0) {
    super()
    this.timeout = initialPs
    this.leastTimeoutPs = leastTimeoutPs
    this.mostTimeoutPs = mostTimeoutPs
    this.granularityPs = granularityPs
  }

  /** The retransmission timeout before any backing off, ps. */
  get timeoutPs(): Time {
    return this.timeout
  }

  override sample(rttPs: Time): void {
    super.sample(rttPs)
    this.timeout = Math.min(
      Math.max(this.retransmissionPs(this.granularityPs), this.leastTimeoutPs),
      this.mostTimeoutPs,
    )
  }

  /** What `times` timeouts in a row make of it (§5.5), ps. */
  backedOff(times: number): Time {
    return Math.min(this.timeout * 2 ** times, this.mostTimeoutPs)
  }
}
