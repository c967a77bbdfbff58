import { DOUBLE_ZERO, SmoothedRtt } from "@rdmakit/protocol"

/** Round trips of a flow, ps; the path's base RTT is taken for the smoothed and the latest one before the first sample. */
export class RoundTrip extends SmoothedRtt {
  latestPs: number = DOUBLE_ZERO

  constructor(baseRttPs: number) {
    super(baseRttPs)
    this.latestPs = baseRttPs
  }

  override sample(rttPs: number): void {
    super.sample(rttPs)
    this.latestPs = rttPs
  }
}
