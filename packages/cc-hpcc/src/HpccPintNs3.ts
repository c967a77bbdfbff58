import type { PintCodec } from "@rdmakit/packet"
import { type Ack, AckController, type PathInfo, type Time, windowAt } from "@rdmakit/protocol"
import type { GlibcRandom } from "@rdmakit/units"
import type { HpccPintNs3Options } from "./HpccPintOptions.ts"

/** Probabilities count in 65,536ths. */
const SHARES = 65_536

/**
 * HPCC-PINT as HPCC's ns-3 code has it (CC_MODE 10, HandleAckHpPint): integer rates, and `rand()` asked for every
 * acknowledgement whether it counts. The first that does opens a round trip and is not used; FAST_REACT changes nothing.
 */
export class HpccPintNs3 extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s, an integer. */
  rate: number = 0
  window: number = 0

  private readonly codec: PintCodec
  private readonly random: GlibcRandom
  private readonly threshold: number = 0
  private readonly lineRateBps: number = 0
  private readonly minRateBps: number = 0
  private readonly additiveIncreaseBps: number = 0
  private readonly eta: number = 0
  private readonly maxStage: number = 0
  private readonly windowBytes: number = 0
  private readonly varWin: boolean

  private utilisation = 1
  private referenceRateBps: number = 0
  private stage = 0
  private lastUpdateSequence = 0

  private fullUpdates = 0
  private fastReactions = 0
  private unmeasured = 0
  private passedOver = 0

  constructor(options: HpccPintNs3Options, codec: PintCodec, random: GlibcRandom, path: PathInfo) {
    super()
    const lineRateBps = Math.trunc(path.lineRateBps)
    this.codec = codec
    this.random = random
    this.threshold = Math.trunc(SHARES * (options.probability ?? 1))
    this.lineRateBps = lineRateBps
    this.minRateBps = Math.min(options.minRateBps ?? 1e9, lineRateBps)
    this.additiveIncreaseBps = options.additiveIncreaseBps ?? Math.trunc((lineRateBps * 10) / 25_000)
    this.eta = options.eta ?? 0.95
    this.maxStage = options.maxStage ?? 0
    this.windowBytes = path.windowBytes
    this.varWin = options.varWin ?? true
    this.rate = lineRateBps
    this.referenceRateBps = lineRateBps
    this.window = path.windowBytes > 0 ? path.windowBytes : Infinity
  }

  onAck(_now: Time, ack: Ack): boolean {
    if ((this.random.bits() & (SHARES - 1)) >= this.threshold) {
      this.passedOver++
      return false
    }
    const full = ack.sequence > this.lastUpdateSequence
    if (this.lastUpdateSequence === 0) {
      this.lastUpdateSequence = ack.sent
      return false
    }
    if (ack.pint < 0) {
      this.unmeasured++
      return false
    }
    this.utilisation = this.codec.decode(ack.pint)
    const excess = this.utilisation / this.eta
    const multiplicative = excess >= 1 || this.stage >= this.maxStage
    const base = multiplicative ? Math.trunc(this.referenceRateBps / excess) : this.referenceRateBps
    let rate = base + this.additiveIncreaseBps
    if (rate < this.minRateBps) rate = this.minRateBps
    if (rate > this.lineRateBps) rate = this.lineRateBps
    this.setRate(rate)
    if (full) {
      this.referenceRateBps = rate
      this.stage = multiplicative ? 0 : this.stage + 1
      if (ack.sent > this.lastUpdateSequence) this.lastUpdateSequence = ack.sent
      this.fullUpdates++
    } else {
      this.fastReactions++
    }
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      utilisation: this.utilisation,
      referenceRateBps: this.referenceRateBps,
      stage: this.stage,
      lastUpdateSequence: this.lastUpdateSequence,
      fullUpdates: this.fullUpdates,
      fastReactions: this.fastReactions,
      unmeasured: this.unmeasured,
      passedOver: this.passedOver,
    }
  }

  private setRate(rate: number): void {
    if (rate === this.rate) return
    this.rate = rate
    if (this.varWin && this.windowBytes > 0) {
      this.window = windowAt(this.windowBytes, rate, this.lineRateBps)
    }
  }
}
