import type { Ack, PathInfo } from "@rdmakit/protocol"
import type { HpccRttOptions } from "./HpccOptions.ts"
import { UtilisationWindow } from "./UtilisationWindow.ts"

/**
 * HPCC by round trips. HPCC's u is qlen / (B · T) + txRate / B. A queue of qlen bytes at a link of rate B delays by
 * qlen / B, which is what a round trip has above the shortest: the first term is that delay in units of T. Where there is a
 * queue the link is busy and the second is 1; where there is none it is not known, and taken for 1.
 *
 * Of two samples the smaller delay counts, as the smaller of two queues does in HPCC: what one packet met may have been
 * gone for the next. The shortest round trip is the flow's own, but never above T: a flow that begins behind a queue does
 * not take it for distance.
 */
export class HpccRtt extends UtilisationWindow {
  private readonly slackPs: number = 0
  private leastRttPs: number = 0
  private lastRttPs: number = Infinity

  constructor(options: HpccRttOptions, path: PathInfo) {
    super(options, path)
    this.slackPs = options.slackPs ?? 0
    this.leastRttPs = path.baseRttPs
  }

  protected sample({ rttPs }: Ack): number {
    if (!(rttPs > 0 && rttPs < Infinity)) return Number.NaN
    if (rttPs < this.leastRttPs) this.leastRttPs = rttPs
    const smaller = Math.min(rttPs, this.lastRttPs)
    this.lastRttPs = rttPs
    return 1 + Math.max(0, smaller - this.leastRttPs - this.slackPs) / this.baseRttPs
  }

  override metrics(): Readonly<Record<string, number>> {
    return { ...super.metrics(), leastRttPs: this.leastRttPs }
  }
}
