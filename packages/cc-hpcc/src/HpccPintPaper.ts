import type { PintCodec } from "@rdmakit/packet"
import type { Ack, PathInfo, Time } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import { ComputeWind, type WindConstants } from "./ComputeWind.ts"
import type { HpccPintPaperOptions } from "./HpccPintOptions.ts"

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
export class HpccPintPaper extends ComputeWind {
  private readonly codec: PintCodec
  private readonly probability: number = 0
  private readonly seed: number = 0
  private readonly flow: number = 0
  private ordinal = 0
  private passedOver = 0

  constructor(constants: WindConstants, options: HpccPintPaperOptions, codec: PintCodec, path: PathInfo) {
    super(constants)
    this.codec = codec
    this.probability = options.probability ?? 1
    this.seed = path.seed ^ DRAW_SEED
    this.flow = path.flow
  }

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
    if (!opensRound && !this.constants.everyAck) return false
    if (opensRound) this.lastUpdateSequence = ack.sent
    this.utilisation = this.codec.decode(ack.pint)
    this.computeWindow(opensRound || this.constants.everyAckFull)
    return true
  }

  override metrics(): Readonly<Record<string, number>> {
    return { ...super.metrics(), passedOver: this.passedOver }
  }
}
