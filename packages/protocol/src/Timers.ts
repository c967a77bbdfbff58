import type { Controller } from "./Controller.ts"
import { NEVER, type Time } from "./Time.ts"

/** Most timers one controller may have: `changed` has a bit for each. */
const TIMERS_MAX = 8

/**
 * The timers of a controller that has several. A world runs each as an event of its own: two that are due at one moment
 * fire by number, or, as in ns-3, in the order in which they were set. Setting a timer anew takes its event away.
 */
export class Timers {
  /** When each is due, ps; NEVER when idle. */
  readonly due: Float64Array
  /** The world's: the event it made for each, -1 for none. */
  readonly event: Int32Array
  /** Bit i: timer i was set or cancelled since a world last looked; the world's to clear. */
  changed = 0

  /** @param count 1 to 8 */
  constructor(count: number) {
    if (!(Number.isInteger(count) && count >= 1 && count <= TIMERS_MAX))
      throw new RangeError(`timers: ${count}, expected 1 to ${TIMERS_MAX}`)
    this.due = new Float64Array(count).fill(NEVER)
    this.event = new Int32Array(count).fill(-1)
  }

  set(timer: number, time: Time): void {
    this.due[timer] = time
    this.changed |= 1 << timer
  }

  cancel(timer: number): void {
    if (this.due[timer] !== NEVER) this.set(timer, NEVER)
  }

  /**
   * The timer that is due first, at `now` or before; it is idle then. -1: none is due. For worlds without events of their
   * own: of two that are due at one moment it takes the lower number, whichever was set first.
   */
  take(now: Time): number {
    let first = -1
    let time = now
    for (let i = this.due.length - 1; i >= 0; i--) {
      if (this.due[i]! > time) continue
      time = this.due[i]!
      first = i
    }
    if (first >= 0) this.cancel(first)
    return first
  }

  /** When the first is due, NEVER when all are idle. */
  get next(): Time {
    let next = NEVER
    for (let i = 0; i < this.due.length; i++) if (this.due[i]! < next) next = this.due[i]!
    return next
  }
}

/** Runs the timer of a controller that is due first, which is at `now` or before; what `onTimer` returned. */
export const fireTimer = (controller: Controller, now: Time): boolean =>
  controller.onTimer(now, controller.timers === undefined ? 0 : controller.timers.take(now))
