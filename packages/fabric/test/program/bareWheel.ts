import { NEVER, type Time } from "@rdmakit/protocol"
import { EventQueue } from "@rdmakit/sim"
import { Context, type Effect, type Exit } from "effect"
import { type ProgramFault, VirtualRun } from "../../src/program/VirtualRun.ts"
import type { Wheel } from "../../src/program/Wheel.ts"

/** A wheel without a network: alarms alone, and what a test puts there. */
export class BareWheel implements Wheel {
  now: Time = 0
  onAlarm: (now: Time) => void = () => {}
  /** Run at its time, in the course of an event. */
  private readonly calls: Array<() => void> = []
  private readonly queue = new EventQueue(0, 1024)
  private alarm = -1

  get isDone(): boolean {
    return this.queue.isEmpty
  }

  at(time: Time, call: () => void): void {
    this.queue.push(time, 1, this.calls.push(call) - 1)
  }

  alarmAt(time: Time): void {
    if (this.alarm >= 0) this.queue.cancel(this.alarm)
    this.alarm = time === NEVER ? -1 : this.queue.push(time, 0, 0)
  }

  step(until: Time): boolean {
    const node = this.queue.pop(until)
    if (node < 0) return false
    this.now = this.queue.timeOf(node)
    const code = this.queue.codeOf(node)
    const argument = this.queue.argumentOf(node)
    this.queue.release(node)
    if (code === 1) this.calls[argument]!()
    else {
      this.alarm = -1
      this.onAlarm(this.now)
    }
    return true
  }

  settle(): void {}
}

export interface Outcome<A, E> {
  readonly exit: Exit.Exit<A, E> | undefined
  readonly fault: ProgramFault | undefined
  readonly now: Time
}

/** Runs a program to its end without a network. */
export const runBare = <A, E>(
  program: Effect.Effect<A, E>,
  { wheel = new BareWheel(), seed = 0, until = NEVER, outstanding = () => [] as ReadonlyArray<string> } = {},
): Outcome<A, E> => {
  const run = new VirtualRun(wheel, program, Context.empty(), { seed, until, outstanding })
  while (run.step(1 << 16)) {}
  return { exit: run.exit, fault: run.fault, now: wheel.now }
}
