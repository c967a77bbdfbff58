import {
  type Ack,
  type Controller,
  DOUBLE_ZERO,
  type PathInfo,
  type RateWindow,
  startWindow,
  type Time,
  Timers,
  windowAt,
} from "@rdmakit/protocol"
import type { DcqcnOptionsBase } from "./DcqcnOptions.ts"

/** What every reaction point keeps of the options; one object for all flows of a factory. */
export interface ReactionPointConstants {
  readonly lineRateBps: number
  readonly echoes: boolean
  readonly cnpIntervalPs: number
  readonly window: RateWindow
}

export const reactionPointConstants = (
  options: DcqcnOptionsBase,
  lineRateBps: number,
  cnpIntervalPs: number,
): ReactionPointConstants => ({
  lineRateBps,
  echoes: options.notification !== "cnp",
  cnpIntervalPs: options.cnpIntervalPs ?? cnpIntervalPs,
  window: options.window ?? "none",
})

/**
 * The sender's side of DCQCN (the paper's reaction point): a rate, a window that may follow it, timers, and what counts
 * as a notification. What a notification or a timer does is the variant's.
 */
export abstract class ReactionPoint implements Controller {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s. */
  rate: number = 0
  window: number = 0
  readonly timers: Timers

  private readonly shared: ReactionPointConstants
  private readonly windowBytes: number = 0
  private nextEchoPs: number = DOUBLE_ZERO

  protected notifications = 0
  protected cuts = 0
  protected increases = 0

  constructor(shared: ReactionPointConstants, path: PathInfo, timers: number) {
    this.shared = shared
    this.timers = new Timers(timers)
    this.windowBytes = startWindow(shared.window, path)
    this.rate = shared.lineRateBps
    this.window = this.windowBytes
  }

  get nextTimer(): Time {
    return this.timers.next
  }

  /** A congestion notification came. True when the rate was set. */
  protected abstract notified(now: Time): boolean
  abstract onTimer(now: Time, timer: number): boolean
  abstract metrics(): Readonly<Record<string, number>>

  onSent(_now: Time, _bytes: number): void {}

  onAck(now: Time, ack: Ack): boolean {
    if (!ack.congestion || !this.shared.echoes || now < this.nextEchoPs) return false
    return this.onCnp(now)
  }

  onCnp(now: Time): boolean {
    this.nextEchoPs = now + this.shared.cnpIntervalPs
    this.notifications++
    return this.notified(now)
  }

  onLoss(): boolean {
    return false
  }

  /** Sets the rate, and the window where it follows. */
  protected setRate(rate: number): void {
    this.rate = rate
    if (this.shared.window !== "variable" || this.windowBytes === Number.POSITIVE_INFINITY) return
    this.window = windowAt(this.windowBytes, rate, this.shared.lineRateBps)
  }
}
