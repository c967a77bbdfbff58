import type { Ack, Controller, PathInfo, Time, Timers } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"

/** Rates are doubles: what is computed as the line rate may end a rounding above it. */
const ROUNDING = 1 + 1e-9

/** A controller under watch: after every call it checks what the contract promises, and throws `ContractViolation`. */
export class WatchedController implements Controller {
  private readonly inner: Controller
  private readonly lineRateBps: number

  constructor(inner: Controller, now: Time, path: PathInfo) {
    this.inner = inner
    this.lineRateBps = path.lineRateBps
    this.check("make", now)
  }

  get window(): number {
    return this.inner.window
  }

  get rate(): number {
    return this.inner.rate
  }

  get nextTimer(): Time {
    return this.inner.nextTimer
  }
  get timers(): Timers | undefined {
    return this.inner.timers
  }

  onSent(now: Time, bytes: number): void {
    this.inner.onSent(now, bytes)
    this.check("onSent", now)
  }

  onAck(now: Time, ack: Ack): boolean {
    const { rate, window } = this.inner
    return this.answer("onAck", now, rate, window, this.inner.onAck(now, ack))
  }

  onCnp(now: Time): boolean {
    const { rate, window } = this.inner
    return this.answer("onCnp", now, rate, window, this.inner.onCnp(now))
  }

  onLoss(now: Time, timeout: boolean): boolean {
    const { rate, window } = this.inner
    return this.answer("onLoss", now, rate, window, this.inner.onLoss(now, timeout))
  }

  onTimer(now: Time, timer: number): boolean {
    const { rate, timers, window } = this.inner
    const ran = this.answer("onTimer", now, rate, window, this.inner.onTimer(now, timer))
    const next = timers === undefined ? this.inner.nextTimer : timers.due[timer]!
    if (!(next > now)) fail(`onTimer left the next timer at now, ${now} ps: time would stand still`)
    return ran
  }

  /** The inner metrics, once each of them is found to be a finite number. */
  metrics(): Readonly<Record<string, number>> {
    const metrics = this.inner.metrics()
    for (const [name, value] of Object.entries(metrics)) {
      if (!Number.isFinite(value)) fail(`metrics().${name} is ${String(value)}, not a finite number`)
    }
    return metrics
  }

  private answer(call: string, now: Time, rate: number, window: number, ran: boolean): boolean {
    if (typeof ran !== "boolean") fail(`${call} returned ${String(ran)}, not a boolean`)
    this.check(call, now)
    if (!ran && (rate !== this.inner.rate || window !== this.inner.window)) {
      fail(`${call} returned false, yet it changed the rate or the window`)
    }
    return ran
  }

  private check(call: string, now: Time): void {
    const { rate, window, nextTimer } = this.inner
    if (!(rate > 0 && rate < Infinity)) fail(`after ${call} the rate is ${rate}: it is to be finite and positive`)
    if (rate > this.lineRateBps * ROUNDING) {
      fail(`after ${call} the rate is ${rate} bit/s, above the line rate of ${this.lineRateBps}`)
    }
    if (!(window >= 1)) fail(`after ${call} the window is ${window}: it is to be at least 1 byte, or Infinity`)
    if (!(nextTimer >= now)) fail(`after ${call} the next timer is ${nextTimer} ps, before now, ${now} ps`)
  }
}
