import { type Ack, type Controller, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"

/** 100 Gb/s and 8 µs: a bandwidth-delay product of 100,000 bytes. */
export const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 8e6,
  windowBytes: 100_000,
  mtuBytes: 1000,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}

export const path40: PathInfo = { ...path, lineRateBps: 40e9 }

/** An acknowledgement, with or without an echo of a mark. */
export const ack = (congestion: boolean): Ack => ({
  sequence: 1000,
  sent: 2000,
  bytes: 1000,
  rttPs: 8e6,
  congestion,
  hops: 0,
  pathId: 0,
  telemetry: new Float64Array(0),
  telemetryAt: 0,
  pint: -1,
})

/** Runs a controller's timers as a world does: by time, those due at one moment in the order in which they were set. */
export class Clockwork {
  readonly controller: Controller
  /** What each call of `onTimer` returned, in order. */
  readonly fired: Array<readonly [timer: number, now: Time, ran: boolean]> = []
  private readonly order: Array<number> = []
  private sets = 0

  constructor(controller: Controller) {
    this.controller = controller
  }

  /** Everything that is due until then, that moment included. */
  runTo(until: Time): this {
    const timers = this.controller.timers!
    for (;;) {
      let first = -1
      timers.due.forEach((time, timer) => {
        if ((timers.changed & (1 << timer)) !== 0) this.order[timer] = ++this.sets
        if (time > until || time === NEVER) return
        const before = first < 0 ? NEVER : timers.due[first]!
        if (time < before || (time === before && this.order[timer]! < this.order[first]!)) first = timer
      })
      timers.changed = 0
      if (first < 0) return this
      const now = timers.due[first]!
      timers.cancel(first)
      this.fired.push([first, now, this.controller.onTimer(now, first)])
    }
  }

  /** A marked acknowledgement, after everything that is due by then. */
  mark(now: Time): boolean {
    return this.runTo(now).controller.onAck(now, ack(true))
  }

  cnp(now: Time): boolean {
    return this.runTo(now).controller.onCnp(now)
  }
}

/** Gb/s, compared to the bit/s. */
export const gbps = (controller: Controller): number => Math.round(controller.rate) / 1e9
