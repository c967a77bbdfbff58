import { DOUBLE_ZERO, type Time } from "@rdmakit/protocol"
import type { Timeouts } from "./Timeouts.ts"

/** How much the reordering window may grow, in its least size. */
const WIDEST = 16
/** Samples that a variation is remembered for, about: a turn of the paths. RFC 6298's 4 are meant for one sample a round trip. */
const MEMORY = 64
/** Packets that come one after the other without being sent twice for nothing, until the window narrows again. */
const CALM_PACKETS = 512

/**
 * The round trips of all paths of a context, smoothed after RFC 6298, in picoseconds: every packet is a sample, so the
 * variation is that between paths too. From it follow the timeout and how long one packet is waited for when later ones
 * have come.
 */
export class RttEstimator {
  /** SRTT and RTTVAR, ps; 0 before the first sample. */
  smoothedPs: Time = DOUBLE_ZERO
  private variationPs: Time = DOUBLE_ZERO
  private widening = 1
  private calm = 0
  private readonly limits: Timeouts

  constructor(limits: Timeouts) {
    this.limits = limits
  }

  sample(rttPs: Time): void {
    if (this.smoothedPs === 0) {
      this.smoothedPs = rttPs
      // RFC 6298 takes half. Hardware answers at once, and what varies is queues.
      this.variationPs = rttPs / 8
    } else {
      const deviation = Math.abs(this.smoothedPs - rttPs)
      this.variationPs += (deviation - this.variationPs) / (deviation > this.variationPs ? 4 : MEMORY)
      this.smoothedPs += (rttPs - this.smoothedPs) / 8
    }
    if (this.widening > 1 && ++this.calm >= CALM_PACKETS) {
      this.widening /= 2
      this.calm = 0
    }
  }

  /** The timeout after `times` of them in a row, ps. */
  timeoutPs(times: number): Time {
    const { smoothedPs, limits } = this
    const spread = 4 * this.variationPs
    // Twice the round trip at least: the peer answers at once, but queues come and go.
    let timeout = smoothedPs === 0 ? limits.initialTimeoutPs : smoothedPs + (spread > smoothedPs ? spread : smoothedPs)
    if (timeout < limits.leastTimeoutPs) timeout = limits.leastTimeoutPs
    if (times > 0) timeout *= 2 ** times
    return timeout < limits.mostTimeoutPs ? timeout : limits.mostTimeoutPs
  }

  /** How much longer than a round trip a packet may take when a later one has come, ps (RFC 8985 §6.2, reo_wnd). */
  get reorderWindowPs(): Time {
    const { smoothedPs } = this
    const spread = 4 * this.variationPs
    const least = smoothedPs / 8
    const window = (spread > least ? spread : least) * this.widening
    return window < 4 * smoothedPs ? window : 4 * smoothedPs
  }

  /** No packet was lately sent again that had arrived: what a path carries comes in order. */
  get isCalm(): boolean {
    return this.widening === 1
  }

  /** A packet was sent again though it had arrived. */
  widen(): void {
    this.calm = 0
    if (this.widening < WIDEST) this.widening *= 2
  }
}
