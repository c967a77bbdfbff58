import { DOUBLE_ZERO, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { cbrt } from "@rdmakit/units"
import type { TcpOptions } from "./TcpOptions.ts"
import { TcpWindow } from "./TcpWindow.ts"

/** RFC 9438 §4.6 and §5: what a reduction leaves, and how fast the cube grows, segments per second cubed. */
const BETA = 0.7
const C = 0.4
const SECOND_PS = 1e12
/** The window may grow by half in a round trip (§4.2). */
const GROWTH_MAX = 1.5

/**
 * CUBIC (RFC 9438): the window is a cubic function of the time since the last reduction, flat around the window of then;
 * where NewReno would have more, it has as much as that.
 */
export class Cubic extends TcpWindow {
  private readonly beta: number
  private readonly c: number
  private readonly fastConvergence: boolean

  /** W_max and cwnd_prior, segments; W_est, what NewReno would have. */
  private wMax: number = 0
  private priorSegments: number = 0
  private estimate: number = 0
  /** When the current stretch of avoidance began, ps; NEVER before it has. */
  private epoch: number = NEVER
  /** When the window last grew, ps. */
  private grownPs: number = DOUBLE_ZERO
  /** K, when the cube is at W_max again, s after the epoch. */
  private k: number = 0

  constructor(options: TcpOptions, path: PathInfo) {
    super(options, path)
    this.beta = options.beta ?? BETA
    this.c = options.c ?? C
    this.fastConvergence = options.fastConvergence ?? true
  }

  protected grow(now: Time, segments: number): void {
    if (this.epoch === NEVER) this.beginEpoch(now)
    else if (this.slack) this.leaveOut(now - this.grownPs - this.roundTrip.latestPs)
    this.slack = false
    this.grownPs = now
    // The target is a round trip ahead (§4.2, §4.4), the smoothed one (§4.1.2).
    const t = (now - this.epoch) / SECOND_PS
    const ahead = this.cube(t + this.roundTrip.smoothedPs / SECOND_PS)
    const target = Math.min(Math.max(ahead, this.segments), GROWTH_MAX * this.segments)
    // §4.3: α_cubic until W_est is at cwnd_prior, then one.
    const alpha = this.estimate >= this.priorSegments ? 1 : (3 * (1 - this.beta)) / (1 + this.beta)
    this.estimate += (alpha * segments) / this.segments
    if (this.cube(t) < this.estimate) this.setWindow(Math.max(this.estimate, this.segments))
    else this.setWindow(this.segments + ((target - this.segments) / this.segments) * segments)
  }

  /** §5.8: t has no part in the time in which the window was not the limit, idle or not, but for the round trip after it. */
  private leaveOut(timePs: number): void {
    if (timePs > 0) this.epoch += timePs
  }

  /** W_cubic(t) = C · (t − K)³ + W_max (§4.2, figure 1). */
  private cube(t: number): number {
    const from = t - this.k
    return this.c * from * from * from + this.wMax
  }

  /** K = ∛((W_max − cwnd_epoch) / C) (§4.2, figure 2). */
  private beginEpoch(now: Time): void {
    this.epoch = now
    this.estimate = this.segments
    if (this.wMax < this.segments) this.wMax = this.segments
    this.k = cbrt((this.wMax - this.segments) / this.c)
  }

  protected reduce(): number {
    // §4.7: a flow whose window has not come back to where it was leaves room for others.
    const { segments, beta } = this
    this.priorSegments = segments
    const yields = this.fastConvergence && segments < this.wMax
    this.wMax = yields ? (segments * (1 + beta)) / 2 : segments
    this.epoch = NEVER
    return segments * beta
  }

  /** §4.8: after a timeout the first epoch begins at its own window. */
  protected restart(): void {
    this.wMax = 0
    this.epoch = NEVER
  }

  /** Avoidance begins anew from where it is then (§4.2): W_est is not to be what it was before. */
  protected restartIdle(): void {
    this.epoch = NEVER
  }

  override metrics(): Readonly<Record<string, number>> {
    return { ...super.metrics(), wMaxSegments: this.wMax, kSeconds: this.k, estimateSegments: this.estimate }
  }
}
