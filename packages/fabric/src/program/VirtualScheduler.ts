import type { Fiber, Scheduler } from "effect"

/** Tasks of one moment after which time moves on all the same: fibers that poll without end wait for what it brings. */
const TASKS_MAX = 1 << 14

const Phase = { Outside: 0, Event: 1, Fibers: 2 } as const
type Phase = (typeof Phase)[keyof typeof Phase]

/**
 * Runs the fibers of a program, all of them by one queue, first in, first out: what wakes them is posted there as well, so
 * that fibers resume in the order in which things happened. It never asks the platform for a turn: whoever drives virtual
 * time calls `drain` after each event.
 */
export class VirtualScheduler implements Scheduler.Scheduler {
  readonly executionMode = "sync"
  /** A fiber was resumed from outside, by a promise or a timer of the platform. */
  trespassed = false
  private phase: Phase = Phase.Outside
  private tasks: Array<() => void> = []
  private head = 0
  private readonly dispatcher: Scheduler.SchedulerDispatcher = {
    scheduleTask: (task) => this.post(task),
    flush: () => {
      this.drain()
    },
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    if (this.phase !== Phase.Fibers) {
      // It comes no further than this: its next step waits in the queue.
      if (this.phase === Phase.Outside) this.trespassed = true
      return true
    }
    return fiber.currentOpCount >= fiber.cache.maxOpsBeforeYield
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return this.dispatcher
  }

  /** Adds a task behind all others. */
  post(task: () => void): void {
    this.tasks.push(task)
  }

  /** Runs an event: fibers that it resumes wait for its end. */
  duringEvent<A>(run: () => A): A {
    return this.during(Phase.Event, run)
  }

  /** Runs what may run fibers. Whatever else resumes one, save an event, is an intruder. */
  duringFibers<A>(run: () => A): A {
    return this.during(Phase.Fibers, run)
  }

  private during<A>(phase: Phase, run: () => A): A {
    const before = this.phase
    this.phase = phase
    try {
      return run()
    } finally {
      this.phase = before
    }
  }

  /** Whether a task waits. */
  get isBusy(): boolean {
    return this.head < this.tasks.length
  }

  /** Runs tasks until none is left, or as many as one moment may have; how many. */
  drain(): number {
    let done = 0
    while (this.head < this.tasks.length && done < TASKS_MAX) {
      const task = this.tasks[this.head++]!
      done++
      task()
    }
    if (this.head === this.tasks.length) this.tasks.length = 0
    else this.tasks.splice(0, this.head)
    this.head = 0
    return done
  }
}
