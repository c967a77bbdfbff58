import { NEVER, type Time } from "@rdmakit/protocol"
import type { Clock } from "./Clock.ts"

const PS_PER_MS = 1e9
/** Timers of Node count whole milliseconds and come late: what is due within this is waited for by turns of the loop. */
const SPIN_PS = 1.5 * PS_PER_MS
/** The longest that a timer is set for; then it is set again. */
const TIMER_MS_MAX = 60_000

/** A microtask by way of a promise: `queueMicrotask` costs five times as much. */
const NOW = Promise.resolve()

/**
 * Calls back at a time: by a timer when it is far, by turns of the event loop when it is near, in a microtask when it is
 * now. While nothing is due it costs nothing.
 */
export class WakeUp {
  private readonly clock: Clock
  private readonly run: (afterSockets: boolean) => void
  private readonly ran = (): void => {
    this.immediate = undefined
    this.check()
  }
  private readonly rang = (): void => {
    this.timer = undefined
    this.timerDue = NEVER
    // Timers come before sockets.
    if (this.immediate === undefined && !this.stopped) this.immediate = setImmediate(this.ran)
  }
  private readonly micro = (): void => {
    this.microtask = false
    if (!this.stopped) this.run(false)
  }
  private immediate: NodeJS.Immediate | undefined = undefined
  private timer: NodeJS.Timeout | undefined = undefined
  private timerDue: Time = NEVER
  private due: Time = NEVER
  /** The loop turns until then, whether anything is due or not. */
  private awakeUntil: Time = 0
  private microtask = false
  private stopped = false

  constructor(clock: Clock, run: (afterSockets: boolean) => void) {
    this.clock = clock
    this.run = run
  }

  /**
   * More is expected before this time: until then the loop does not sleep, for being woken from sleep costs the sender of a
   * packet, and the packet, more than all that is done with it.
   */
  stayAwake(until: Time): void {
    this.awakeUntil = until
    if (this.immediate === undefined && !this.stopped) this.immediate = setImmediate(this.ran)
  }

  /** As soon as what runs now has ended. */
  soon(): void {
    if (this.microtask || this.stopped) return
    this.microtask = true
    NOW.then(this.micro)
  }

  /** After sockets had their turn. */
  next(): void {
    this.due = 0
    if (this.immediate === undefined && !this.stopped) this.immediate = setImmediate(this.ran)
  }

  /** In a millisecond or two, for what nothing tells of. */
  later(): void {
    this.due = 0
    if (this.timerDue === 0 || this.stopped) return
    if (this.timer !== undefined) clearTimeout(this.timer)
    this.timerDue = 0
    this.timer = setTimeout(this.rang, 1)
  }

  /** At this time, and no longer at the one before. */
  at(time: Time): void {
    this.due = time
    if (this.immediate !== undefined || this.stopped || time === NEVER) return
    // Most deadlines are put off before they come: a timer that is set for earlier finds that out when it rings.
    if (time >= this.timerDue) return
    const wait = time - this.clock.now()
    if (wait <= SPIN_PS) {
      this.immediate = setImmediate(this.ran)
      return
    }
    if (this.timer !== undefined) clearTimeout(this.timer)
    this.timerDue = time
    this.timer = setTimeout(this.rang, Math.min(TIMER_MS_MAX, Math.floor((wait - PS_PER_MS) / PS_PER_MS)))
  }

  stop(): void {
    this.stopped = true
    if (this.immediate !== undefined) clearImmediate(this.immediate)
    if (this.timer !== undefined) clearTimeout(this.timer)
    this.immediate = undefined
    this.timer = undefined
  }

  private check(): void {
    if (this.stopped) return
    const now = this.clock.now()
    if (this.due <= now) this.run(true)
    else this.at(this.due)
    if (now < this.awakeUntil && this.immediate === undefined) this.immediate = setImmediate(this.ran)
  }
}
