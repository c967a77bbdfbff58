import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { hash32, MICROSECOND, uniform } from "@rdmakit/units"

/** What a link does to the frames that cross it, in one direction. Probabilities are from 0 to 1, each by default 0. */
export interface Impairment {
  /** The frame is gone. */
  readonly loss?: number
  /**
   * The share of flows whose frames all vanish, while the link stays up for routing. A hash of the frame's hosts and UDP
   * ports decides, so that flows of several paths lose some of them.
   */
  readonly blackHole?: number
  /** Bits of it are turned: who takes it finds its checksum wrong and drops it. */
  readonly corruption?: number
  /** The frame comes twice. */
  readonly duplication?: number
  /** The frame comes later by `reorderPs`, and those behind it pass it. */
  readonly reordering?: number
  /** ps. Default 200 µs. */
  readonly reorderPs?: Time
  /** Every frame comes later, evenly distributed between these two, ps. Frames may pass each other. */
  readonly delayPs?: readonly [least: Time, most: Time]
}

/** What becomes of one frame. Whoever holds one never keeps it. */
export interface Fate {
  kind: "passed" | "vanished" | "lost" | "corrupted"
  /** How much later it comes, ps. */
  latePs: Time
  /** How much later its double comes, ps; -1: it has none. */
  doublePs: Time
}

/** What is drawn for one frame. */
const DRAWS = 8
const REORDER_PS = 200 * MICROSECOND
/** Keeps these draws apart from those for losses, which have the same seed and port. */
const STREAM = 0x1a9a0000
const BLACK_HOLES = 0x1a9b0000

/** Draws what becomes of the frames from one port: the same seed and the same frames, the same fates. */
export class ImpairedLink {
  /** Frames that it has drawn for. */
  private crossed = 0
  private readonly seed: number
  private readonly port: number
  private readonly fate: Fate = { kind: "passed", latePs: 0, doublePs: -1 }
  impairment: Impairment

  constructor(seed: number, port: number, impairment: Impairment) {
    this.seed = seed ^ STREAM
    this.port = port
    this.impairment = impairment
  }

  next({ source, destination, udpPorts }: Packet): Fate {
    const { fate, impairment } = this
    const { blackHole = 0, loss = 0, corruption = 0, duplication = 0, reordering = 0 } = impairment
    const place = DRAWS * this.crossed++
    const draw = (index: number): number => uniform(this.seed, this.port, place + index)
    if (blackHole > 0 && this.flowDraw(source, destination, udpPorts) < blackHole) fate.kind = "vanished"
    else if (loss > 0 && draw(0) < loss) fate.kind = "lost"
    else fate.kind = corruption > 0 && draw(1) < corruption ? "corrupted" : "passed"
    fate.doublePs = duplication > 0 && draw(2) < duplication ? this.delay(draw(3)) : -1
    const late = reordering > 0 && draw(4) < reordering ? (impairment.reorderPs ?? REORDER_PS) : 0
    fate.latePs = late + (impairment.delayPs === undefined ? 0 : this.delay(draw(5)))
    return fate
  }

  private flowDraw(source: number, destination: number, udpPorts: number): number {
    return uniform(this.seed ^ STREAM ^ BLACK_HOLES, this.port, hash32(source, destination, udpPorts))
  }

  private delay(draw: number): Time {
    const [least, most] = this.impairment.delayPs ?? [0, 0]
    return Math.floor(least + draw * (most - least))
  }
}
