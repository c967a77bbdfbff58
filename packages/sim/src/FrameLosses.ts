import { uniform } from "@rdmakit/units"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"

/** Reasons of the kernel's own drops, beside those of a switch (`Drop` in protocol). */
export const LinkLoss = -16
/** Cut off by a link that went down, or left waiting at it. */
export const LinkDown = -17
/** Came damaged: its checksum was wrong. */
export const LinkCorruption = -18
/** Gone without a trace, for a link that is up takes no packets of its flow. */
export const BlackHole = -19
/** Found no room in the buffer of a slow receiver. */
export const ReceiverOverflow = -20

/** Which frames get lost on the links they cross: by chance, by number, or as a model with draws of its own says. */
export class FrameLosses {
  /** Whether any may be lost at all. */
  readonly any: boolean
  private readonly seed: number
  private readonly rate: Float64Array
  private readonly ordinals: ReadonlyMap<number, ReadonlySet<number>> | undefined
  private readonly draw: ((port: number) => boolean) | undefined
  /** Frames that crossed each link, by sending port, PFC frames apart. */
  private readonly crossed: Float64Array

  constructor({ network, losses, isLost, seed = 0, faults = false }: ExactKernelOptions) {
    this.seed = seed
    this.rate = network.lossRate
    this.ordinals = losses
    this.draw = isLost
    this.any = faults || isLost !== undefined || (losses?.size ?? 0) > 0 || network.lossRate.some((rate) => rate > 0)
    this.crossed = new Float64Array(this.any ? network.ports : 0)
  }

  /** From now on so many of the frames from a port are lost by chance, 0 to 1. */
  setRate(port: number, rate: number): void {
    this.rate[port] = rate
  }

  /** Whether the frame that has crossed the link of `port` is lost. PFC frames are lost only by a model's own draws. */
  takes(port: number, isPfc: boolean): boolean {
    if (this.draw !== undefined) return this.draw(port)
    if (isPfc) return false
    const ordinal = this.crossed[port]!
    this.crossed[port] = ordinal + 1
    const rate = this.rate[port]!
    if (rate > 0 && uniform(this.seed, port, ordinal) < rate) return true
    return this.ordinals?.get(port)?.has(ordinal) === true
  }
}
