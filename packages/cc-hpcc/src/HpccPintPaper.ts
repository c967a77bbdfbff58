import type { PintCodec } from "@rdmakit/packet"
import { type Ack, type Controller, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import type { HpccPintPaperOptions } from "./HpccPintOptions.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12
/** Keeps these draws apart from those of losses and marks, which have the same seed. */
const DRAW_SEED = 0x50494e54

/**
 * HPCC-PINT as its paper has it (Ben Basat et al., PINT, SIGCOMM 2020): the switches compute what MeasureInflight of HPCC
 * would, a packet brings back the largest U of its path in a few bits, and the sender does no more than ComputeWind
 * (HPCC §3.2, Algorithm 1). There are no records to compare, so the first acknowledgement counts like any other, and
 * paths may change.
 *
 * Of the acknowledgements a share is used, drawn by `hash(seed, flow, ordinal)`; the others are as if they carried
 * something else.
 */
export class HpccPintPaper implements Controller {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** W / T, bit/s. */
  rate: number = 0
  /** W, whole bytes. */
  window: number = 0
  readonly nextTimer: Time = NEVER

  private readonly codec: PintCodec
  private readonly lineRateBps: number = 0
  private readonly eta: number = 0
  private readonly maxStage: number = 0
  private readonly additiveIncreaseBytes: number = 0
  private readonly minWindowBytes: number = 0
  private readonly startWindowBytes: number = 0
  private readonly probability: number = 0
  private readonly seed: number = 0
  private readonly flow: number = 0
  private readonly windowed: boolean
  private readonly everyAck: boolean
  private readonly everyAckFull: boolean

  private utilisation = 1
  private referenceWindowBytes: number = 0
  private stage = 0
  private lastUpdateSequence = 0
  private ordinal = 0

  private fullUpdates = 0
  private fastReactions = 0
  private unmeasured = 0
  private passedOver = 0

  constructor(options: HpccPintPaperOptions, codec: PintCodec, path: PathInfo) {
    this.codec = codec
    this.lineRateBps = path.lineRateBps
    this.eta = options.eta ?? 0.95
    this.maxStage = options.maxStage ?? 0
    this.additiveIncreaseBytes = options.additiveIncreaseBytes ?? 80
    this.probability = options.probability ?? 1
    this.seed = path.seed ^ DRAW_SEED
    this.flow = path.flow
    this.everyAckFull = options.reaction === "per-ack"
    this.everyAck = options.reaction !== "per-rtt"
    this.windowed = path.windowBytes > 0
    const product = this.windowed ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / BIT_PS
    this.startWindowBytes = Math.max(1, product)
    this.minWindowBytes = Math.min(options.minWindowBytes ?? this.startWindowBytes / 100, this.startWindowBytes)
    this.referenceWindowBytes = this.startWindowBytes
    this.rate = path.lineRateBps
    this.window = this.windowed ? Math.floor(this.startWindowBytes) : Infinity
  }

  onSent(): void {}

  onAck(_now: Time, ack: Ack): boolean {
    if (ack.pint < 0) {
      this.unmeasured++
      return false
    }
    if (this.probability < 1 && uniform(this.seed, this.flow, this.ordinal++) >= this.probability) {
      this.passedOver++
      return false
    }
    const opensRound = ack.sequence > this.lastUpdateSequence
    if (!opensRound && !this.everyAck) return false
    if (opensRound) this.lastUpdateSequence = ack.sent
    this.utilisation = this.codec.decode(ack.pint)
    this.computeWindow(opensRound || this.everyAckFull)
    return true
  }

  onCnp(): boolean {
    return false
  }

  onLoss(): boolean {
    return false
  }

  onTimer(): boolean {
    return false
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      utilisation: this.utilisation,
      referenceWindowBytes: this.referenceWindowBytes,
      stage: this.stage,
      lastUpdateSequence: this.lastUpdateSequence,
      fullUpdates: this.fullUpdates,
      fastReactions: this.fastReactions,
      unmeasured: this.unmeasured,
      passedOver: this.passedOver,
    }
  }

  /** ComputeWind. `full` moves the reference window, which happens once a round trip. */
  private computeWindow(full: boolean): void {
    const multiplicative = this.utilisation >= this.eta || this.stage >= this.maxStage
    const base = multiplicative ? this.referenceWindowBytes / (this.utilisation / this.eta) : this.referenceWindowBytes
    const windowBytes = Math.min(
      Math.max(base + this.additiveIncreaseBytes, this.minWindowBytes),
      this.startWindowBytes,
    )
    if (full) {
      this.referenceWindowBytes = windowBytes
      this.stage = multiplicative ? 0 : this.stage + 1
      this.fullUpdates++
    } else {
      this.fastReactions++
    }
    this.rate = (this.lineRateBps * windowBytes) / this.startWindowBytes
    if (this.windowed) this.window = Math.max(1, Math.floor(windowBytes))
  }
}
