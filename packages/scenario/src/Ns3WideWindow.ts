import type { Ack, Controller, ControllerFactory, PathInfo, Time } from "@rdmakit/protocol"

const TWO_64 = 2 ** 64

/**
 * A controller whose window is reckoned as the HPCC simulator does on long, fast paths (RdmaQueuePair::GetWin): of window
 * times rate, before the line rate divides it, 64 bits are left. At 100 Gb/s that tells from 184 MB on.
 */
class WideWindow implements Controller {
  private readonly inner: Controller
  private readonly windowBytes: bigint
  private readonly lineRateBps: bigint
  private knownRate = -1
  private knownWindow = 1

  constructor(inner: Controller, path: PathInfo) {
    this.inner = inner
    this.windowBytes = BigInt(path.windowBytes)
    this.lineRateBps = BigInt(Math.trunc(path.lineRateBps))
  }

  get rate(): number {
    return this.inner.rate
  }

  get window(): number {
    const { rate } = this.inner
    if (rate !== this.knownRate) {
      this.knownRate = rate
      const window = BigInt.asUintN(64, this.windowBytes * BigInt(rate)) / this.lineRateBps
      this.knownWindow = Math.max(1, Number(window))
    }
    return this.knownWindow
  }

  get nextTimer(): Time {
    return this.inner.nextTimer
  }

  get timers(): Controller["timers"] {
    return this.inner.timers
  }

  onSent(now: Time, bytes: number): void {
    this.inner.onSent(now, bytes)
  }

  onAck(now: Time, ack: Ack): boolean {
    return this.inner.onAck(now, ack)
  }

  onCnp(now: Time): boolean {
    return this.inner.onCnp(now)
  }

  onLoss(now: Time, timeout: boolean): boolean {
    return this.inner.onLoss(now, timeout)
  }

  onTimer(now: Time, timer: number): boolean {
    return this.inner.onTimer(now, timer)
  }

  metrics(): Readonly<Record<string, number>> {
    return this.inner.metrics()
  }
}

/** Controllers with a variable window and whole rates, as the simulator has their windows. */
export const withWideWindows = (factory: ControllerFactory): ControllerFactory => ({
  ...factory,
  make: (now, path) => {
    const inner = factory.make(now, path)
    return path.windowBytes * path.lineRateBps < TWO_64 ? inner : new WideWindow(inner, path)
  },
})
