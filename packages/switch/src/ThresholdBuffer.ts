import { Drop, type SwitchPorts } from "@rdmakit/protocol"
import { HEADROOM, HEADROOM_LIMIT, SharedBuffer, type SharedBufferOptions } from "./SharedBuffer.ts"
import { checkThreshold } from "./SwitchOptionError.ts"

/**
 * How much a queue may hold of the shared pool. Dynamic: alpha times what is free of it, above 0 (Choudhury and Hahne
 * 1998). Static: so many bytes, at least 1, whatever is free.
 */
export type Threshold = { readonly alpha: number } | { readonly bytes: number }

export interface ThresholdBufferOptions extends Omit<SharedBufferOptions, "egressShift"> {
  /**
   * Of a lossless switch: bytes above the reserve at which an ingress (port, priority) is paused. Of a lossy one: bytes
   * of an egress queue above which packets are dropped.
   */
  readonly threshold: Threshold
}

const BYTES_MAX = 2 ** 31 - 1

/**
 * The shared buffer with a threshold of one's choice, the same for all ports, in place of the powers of 2 of the HPCC
 * simulator; `thresholdShift` of its ports is not looked at.
 *
 * The pool is never overdrawn, whatever the threshold allows: what finds no room in it goes to the headroom of a
 * lossless switch, so thresholds that promise more than there is (an alpha above 1, or static ones that add up to more
 * than the pool) pause later and still lose nothing, if the headroom
 * holds one frame more: the one that found no room. Of a lossy switch it is dropped as `Drop.IngressFull`. What the
 * reserve of its ingress holds is always taken from a lossless switch's neighbour.
 */
export class ThresholdBuffer extends SharedBuffer {
  private readonly alpha: number
  private readonly bytes: number

  /** @throws BufferTooSmall; SwitchOptionError for a threshold that is out of range, and sizes that are none */
  constructor(ports: SwitchPorts, options: ThresholdBufferOptions) {
    super(ports, options)
    const { threshold } = options
    checkThreshold(threshold)
    if ("alpha" in threshold) {
      this.alpha = threshold.alpha
      this.bytes = BYTES_MAX
    } else {
      this.alpha = 0
      this.bytes = Math.min(BYTES_MAX, Math.floor(threshold.bytes))
    }
    // Within the reserve a pause is due only where the threshold is 0: never with a static one.
    if (options.lossless) this.ample = this.alpha > 0 ? Math.ceil(1 / this.alpha) : -1
    this.begin()
  }

  protected override isLoose(taken: number, most: number): boolean {
    const { alpha, bytes, pool } = this
    if (taken > pool) return false
    if (!this.lossless) return this.isLooseLossy(taken, alpha > 0 ? (pool - taken) * alpha : bytes + 1)
    return alpha > 0 ? (pool - taken) * alpha >= most + 2 : most + 1 <= bytes
  }

  protected override thresholdAt(_base: number): number {
    return this.alpha > 0 ? Math.min(BYTES_MAX, Math.floor((this.pool - this.shared) * this.alpha)) : this.bytes
  }

  protected override admitLossless(base: number, queue: number, bytes: number): number {
    const { words, reserve } = this
    const at = base + queue
    const held = words[at]! + bytes
    const excess = held - reserve
    const taken = excess > 0 ? Math.min(bytes, excess) : 0
    if (excess > 0 && (excess > this.thresholdAt(base) || taken > this.pool - this.shared)) {
      const inHeadroom = words[at + HEADROOM]! + bytes
      if (inHeadroom > words[base + HEADROOM_LIMIT]!) return Drop.IngressFull
      words[at + HEADROOM] = inHeadroom
      return queue
    }
    words[at] = held
    if (taken > 0) {
      this.shared += taken
      this.settle()
    }
    return queue
  }

  protected override admitLossy(at: number, egress: number, queue: number, bytes: number): number {
    if (this.ports.queueBytesOf(egress, queue) + bytes > this.thresholdAt(at)) return Drop.EgressFull
    const held = this.words[at]! + bytes
    const excess = held - this.reserve
    const taken = excess > 0 ? Math.min(bytes, excess) : 0
    if (taken > this.pool - this.shared) return Drop.IngressFull
    this.words[at] = held
    if (taken > 0) {
      this.shared += taken
      this.settle()
    }
    return queue
  }
}
