import type { Ack, PathInfo } from "@rdmakit/protocol"
import { type HpccEcnOptions, MARKED_UTILISATION } from "./HpccOptions.ts"
import { UtilisationWindow } from "./UtilisationWindow.ts"

/**
 * HPCC by marks. A marked packet has met a queue as long as where marking begins, K: u is 1 + K / (B · T), of which
 * `markedUtilisation` is the value. One without a mark has met a shorter one, or none: u is 1. The mean over a round trip,
 * U, is then 1 + (markedUtilisation − 1) times the marked share, and the window settles where that share is
 * (η − 1) / (markedUtilisation − 1): a fifth, by default.
 */
export class HpccEcn extends UtilisationWindow {
  private readonly markedUtilisation: number = 0
  private marks = 0

  constructor(options: HpccEcnOptions, path: PathInfo) {
    super(options, path)
    this.markedUtilisation = options.markedUtilisation ?? MARKED_UTILISATION
  }

  protected sample({ congestion }: Ack): number {
    if (!congestion) return 1
    this.marks++
    return this.markedUtilisation
  }

  override metrics(): Readonly<Record<string, number>> {
    return { ...super.metrics(), marks: this.marks }
  }
}
