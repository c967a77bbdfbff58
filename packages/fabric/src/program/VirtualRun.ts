import { NEVER, type Time } from "@rdmakit/protocol"
import { Clock, Context, Effect, type Exit, type Fiber, Random } from "effect"
import { OutsideTime, Stalled, TimeExceeded } from "./ProgramError.ts"
import { Sleepers } from "./Sleepers.ts"
import { VirtualScheduler } from "./VirtualScheduler.ts"
import { seededRandom, virtualClock } from "./virtualServices.ts"
import type { Wheel } from "./Wheel.ts"

/** Why a program was ended before its end. */
export type ProgramFault = Stalled | OutsideTime | TimeExceeded

export interface VirtualRunOptions {
  /** Of the program's `Random`, 32 bits. */
  readonly seed: number
  /** The program has to end before this, ps. */
  readonly until: Time
  /** What is asked for and has not come, in words. */
  readonly outstanding: () => ReadonlyArray<string>
}

/** Events that the finalizers of a program that was ended may take. */
const LAST_EVENTS_MAX = 1 << 20

/**
 * One program in the virtual time of a wheel, driven in steps. Fibers run after an event, never in the midst of it, until
 * all of them wait; then comes the next event.
 */
export class VirtualRun<A, E, R> {
  /** Why it was ended; undefined: it was not. */
  fault: ProgramFault | undefined = undefined
  private readonly wheel: Wheel
  private readonly options: VirtualRunOptions
  private readonly scheduler = new VirtualScheduler()
  private readonly sleepers = new Sleepers()
  private readonly start: () => Fiber.Fiber<A, E>
  private fiber: Fiber.Fiber<A, E> | undefined
  private alarm: Time = NEVER

  /** @param context what the program requires; clock and randomness are this class's own */
  constructor(wheel: Wheel, program: Effect.Effect<A, E, R>, context: Context.Context<R>, options: VirtualRunOptions) {
    this.wheel = wheel
    this.options = options
    const { scheduler, sleepers } = this
    wheel.onAlarm = (now) => {
      this.alarm = NEVER
      for (let next = sleepers.take(now); next !== undefined; next = sleepers.take(now)) next.wake()
    }
    const clock = virtualClock(() => wheel.now, sleepers, scheduler)
    const services = context.pipe(
      Context.add(Clock.Clock, clock),
      Context.add(Random.Random, seededRandom(options.seed)),
    )
    this.start = () => Effect.runForkWith(services)(program, { scheduler })
  }

  /** How it ended; undefined: it has not. With a `fault` it says what became of it then. */
  get exit(): Exit.Exit<A, E> | undefined {
    return this.fiber?.pollUnsafe()
  }

  /** Executes at most `budget` events; false: the program has ended, or was ended. */
  step(budget: number): boolean {
    if (this.fiber === undefined) {
      this.scheduler.duringFibers(() => {
        this.fiber = this.start()
      })
      this.settle()
    }
    for (let done = 0; done < budget; done++) {
      if (this.exit !== undefined || this.fault !== undefined) return false
      if (this.scheduler.trespassed) this.end(new OutsideTime({ time: this.wheel.now }))
      else if (!this.advance(this.options.until)) this.end(this.reason())
    }
    return this.exit === undefined && this.fault === undefined
  }

  /** Ends the program: it is interrupted, and its finalizers have their time. */
  interrupt(): void {
    const { fiber } = this
    if (fiber === undefined || this.exit !== undefined) return
    this.scheduler.duringFibers(() => fiber.interruptUnsafe())
    this.settle()
    for (let done = 0; this.exit === undefined && done < LAST_EVENTS_MAX; done++) if (!this.advance(NEVER)) break
  }

  /** One event, and what fibers make of it; false: there is none before `until`. */
  private advance(until: Time): boolean {
    const { next } = this.sleepers
    if (next !== this.alarm) {
      this.alarm = next
      this.wheel.alarmAt(next)
    }
    // Fibers that poll without end have not let it come to rest: they go on all the same.
    if (!this.scheduler.duringEvent(() => this.wheel.step(until))) return false
    this.settle()
    return true
  }

  private settle(): void {
    this.scheduler.duringFibers(() => {
      this.wheel.settle()
      this.scheduler.drain()
    })
  }

  private end(fault: ProgramFault): void {
    this.fault = fault
    this.interrupt()
  }

  private reason(): Stalled | TimeExceeded {
    const { until } = this.options
    const outstanding = [...this.options.outstanding()]
    if (this.scheduler.isBusy) outstanding.push("fibers that run on and on without waiting for anything")
    return until !== NEVER && !this.wheel.isDone
      ? new TimeExceeded({ until, outstanding })
      : new Stalled({ time: this.wheel.now, outstanding })
  }
}
