import { Provider } from "@rdmakit/device/layer"
import { NEVER } from "@rdmakit/protocol"
import { formatTime } from "@rdmakit/units"
import { Clock, Duration, Effect, Exit, Random, type Scheduler, type Scope } from "effect"
import { expect } from "vitest"
import { Loopback, type LoopbackOptions } from "./Loopback.ts"

/** Every fiber's tasks in one queue, drained after each event. */
class OneQueue implements Scheduler.Scheduler {
  readonly executionMode = "sync"
  private tasks: Array<() => void> = []
  private readonly dispatcher: Scheduler.SchedulerDispatcher = {
    scheduleTask: (task) => {
      this.tasks.push(task)
    },
    flush: () => this.drain(),
  }
  shouldYield(): boolean {
    return false
  }
  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return this.dispatcher
  }
  drain(): void {
    for (let tasks = this.tasks; tasks.length > 0; tasks = this.tasks) {
      this.tasks = []
      for (const task of tasks) task()
    }
  }
}

export interface RunOptions extends LoopbackOptions {
  readonly network?: Loopback
  /** Resources that the program may leave behind: none unless a test says so. */
  readonly leaks?: boolean
}

/** Runs a program on a loopback of devices in virtual time; it must leave nothing behind. */
export const runProgram = <A, E>(
  program: Effect.Effect<A, E, Provider | Scope.Scope>,
  options: RunOptions = {},
): Exit.Exit<A, E> => {
  const { network = new Loopback(options) } = options
  const scheduler = new OneQueue()
  const nanos = (): bigint => BigInt(Math.floor(network.now / 1000))
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => network.now / 1e9,
    currentTimeMillis: Effect.sync(() => network.now / 1e9),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback((resume) => {
        const spanPs = Number(Duration.toNanosUnsafe(duration)) * 1000
        const happening = network.at(network.now + spanPs, () => resume(Effect.void))
        return Effect.sync(() => network.cancel(happening))
      }),
  }
  let drawn = 0x2545f491
  const next = (): number => {
    drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0
    return drawn
  }
  const random: (typeof Random.Random)["Service"] = {
    nextDoubleUnsafe: () => next() / 2 ** 32,
    nextIntUnsafe: next,
  }
  const whole = Effect.scoped(program).pipe(
    Effect.provideService(Provider, { devices: network.devices }),
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(Random.Random, random),
  )
  const fiber = Effect.runFork(whole, { scheduler })
  scheduler.drain()
  while (fiber.pollUnsafe() === undefined) {
    if (!network.step()) throw new Error(`the program waits in vain at ${formatTime(network.now)}`)
    if (network.now === NEVER) throw new Error("the program waits for ever")
    scheduler.drain()
  }
  if (options.leaks !== true) for (const { resources } of network.devices) expect(resources).toEqual(NOTHING)
  return fiber.pollUnsafe()!
}

/** What a program leaves that frees everything. */
export const NOTHING = {
  allocations: 0,
  protectionDomains: 0,
  threadDomains: 0,
  memoryRegions: 0,
  memoryWindows: 0,
  completionQueues: 0,
  sharedReceiveQueues: 0,
  queuePairs: 0,
  addressHandles: 0,
  multicastAttachments: 0,
}

/** The result of a program that succeeds. */
export const resultOf = <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>, options: RunOptions = {}): A => {
  const exit = runProgram(program, options)
  if (Exit.isSuccess(exit)) return exit.value
  throw new Error(String(exit.cause))
}
