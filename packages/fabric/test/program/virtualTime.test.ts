import {
  Cause,
  Clock,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Option,
  Queue,
  Random,
  Ref,
  Schedule,
  Semaphore,
  Stream,
} from "effect"
import { describe, expect, it } from "vitest"
import { every } from "../../src/program/every.ts"
import { OutsideTime, Stalled, TimeExceeded } from "../../src/program/ProgramError.ts"
import { VirtualRun } from "../../src/program/VirtualRun.ts"
import { BareWheel, runBare } from "./bareWheel.ts"

const NS = 1000
const US = 1e6
const MS = 1e9

const nanos = Effect.map(Clock.currentTimeNanos, Number)

const resultOf = <A, E>(program: Effect.Effect<A, E>, options: Parameters<typeof runBare>[1] = {}): A => {
  const { exit, fault } = runBare(program, options)
  if (fault !== undefined) throw fault
  if (exit === undefined || Exit.isFailure(exit)) throw new Error(`failed: ${String(exit)}`)
  return exit.value
}

describe("a program in virtual time", { timeout: 30_000 }, () => {
  it("sleeps to the nanosecond and starts at zero", () => {
    const times = resultOf(
      Effect.gen(function* () {
        const log = [yield* nanos]
        for (const span of ["1 nanos", "640 micros", "2 millis", "1 second", "2 hours"] as const) {
          yield* Effect.sleep(span)
          log.push(yield* nanos)
        }
        return log
      }),
    )
    expect(times).toEqual([0, 1, 640_001, 2_640_001, 1_002_640_001, 7_201_002_640_001])
  })

  it("wakes those of one moment in the order in which they lay down", () => {
    const order = resultOf(
      Effect.gen(function* () {
        const log: Array<string> = []
        const sleeper = (name: string, first: Duration.Input, second: Duration.Input) =>
          Effect.gen(function* () {
            yield* Effect.sleep(first)
            yield* Effect.sleep(second)
            log.push(name)
          })
        yield* Effect.all(
          [sleeper("a", "3 nanos", "7 nanos"), sleeper("b", "5 nanos", "5 nanos"), sleeper("c", "1 nanos", "9 nanos")],
          {
            concurrency: "unbounded",
          },
        )
        return log
      }),
    )
    // c lay down for good at 1 ns, a at 3 ns, b at 5 ns.
    expect(order).toEqual(["c", "a", "b"])
  })

  it("runs queues, timeouts, forks, semaphores and streams by the simulated clock", () => {
    const seen = resultOf(
      Effect.gen(function* () {
        const queue = yield* Queue.unbounded<number>()
        const log: Array<[number, number]> = []
        yield* Effect.forkChild(
          Effect.gen(function* () {
            for (let i = 0; i < 3; i++) {
              yield* Effect.sleep("640 nanos")
              yield* Queue.offer(queue, i)
            }
          }),
        )
        const taker = yield* Effect.forkChild(
          Effect.forever(
            Effect.flatMap(Queue.take(queue), (value) => Effect.map(nanos, (at) => log.push([at, value]))),
          ),
        )
        const missed = yield* Effect.timeoutOption(Effect.never, "5 nanos")
        const missedAt = yield* nanos
        const gate = yield* Semaphore.make(1)
        const turns = yield* Effect.forEach(
          [3, 1, 2],
          (n) =>
            gate.withPermits(1)(
              Effect.andThen(
                Effect.sleep(Duration.nanos(BigInt(n))),
                Effect.map(nanos, (at) => [n, at]),
              ),
            ),
          { concurrency: "unbounded" },
        )
        const ticks = yield* Stream.fromSchedule(every("100 nanos")).pipe(
          Stream.mapEffect(() => nanos),
          Stream.take(3),
          Stream.runCollect,
        )
        yield* Effect.sleep("2 micros")
        yield* Fiber.interrupt(taker)
        return { log, missed: Option.isNone(missed), missedAt, turns, ticks, end: yield* nanos }
      }),
    )
    expect(seen.log).toEqual([
      [640, 0],
      [1280, 1],
      [1920, 2],
    ])
    expect(seen.missed).toBe(true)
    expect(seen.missedAt).toBe(5)
    expect(seen.turns).toEqual([
      [3, 8],
      [1, 9],
      [2, 11],
    ])
    expect(seen.ticks).toEqual([111, 211, 311])
    expect(seen.end).toBe(2311)
  })

  it("gives finalizers that sleep their time, when a timeout interrupts and when the program ends", () => {
    const log: Array<[string, number]> = []
    const note = (what: string) => Effect.map(nanos, (at) => void log.push([what, at]))
    const held = Effect.acquireUseRelease(
      Effect.succeed("resource"),
      () => Effect.sleep("1 second"),
      () => Effect.andThen(Effect.sleep("3 micros"), note("released")),
    )
    const out = runBare(
      Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.addFinalizer(() => Effect.andThen(Effect.sleep("1 micros"), note("scope")))
          yield* Effect.timeoutOption(held, "10 micros")
          yield* note("after")
        }),
      ),
    )
    expect(log).toEqual([
      ["released", 13_000],
      ["after", 13_000],
      ["scope", 14_000],
    ])
    expect(out.now).toBe(14 * US)
  })

  it("has schedules below a millisecond: every() where the milliseconds of fixed() miss turns", () => {
    const turns = (schedule: Schedule.Schedule<unknown>) =>
      resultOf(
        Effect.gen(function* () {
          const log: Array<number> = []
          yield* Effect.repeat(
            Effect.andThen(
              Effect.map(nanos, (at) => log.push(at)),
              Effect.sleep("700 nanos"),
            ),
            { schedule, times: 5 },
          )
          return log
        }),
      )
    expect(turns(every("5 micros"))).toEqual([0, 5700, 10_700, 15_700, 20_700, 25_700])
    expect(turns(Schedule.spaced("5 micros"))).toEqual([0, 5700, 11_400, 17_100, 22_800, 28_500])
    // One that takes longer than its interval skips turns.
    const late = resultOf(
      Effect.gen(function* () {
        const log: Array<number> = []
        yield* Effect.repeat(
          Effect.andThen(
            Effect.map(nanos, (at) => log.push(at)),
            Effect.sleep("12 nanos"),
          ),
          { schedule: every("5 nanos"), times: 3 },
        )
        return log
      }),
    )
    expect(late).toEqual([0, 17, 32, 47])
    expect(() => every("0 nanos")).toThrow(RangeError)
  })

  it("draws from a seed", () => {
    const draws = Effect.all([
      Random.next,
      Random.nextInt,
      Random.nextBetween(5, 9),
      Random.shuffle([1, 2, 3, 4, 5, 6, 7]),
    ])
    expect(resultOf(draws, { seed: 7 })).toEqual(resultOf(draws, { seed: 7 }))
    expect(resultOf(draws, { seed: 7 })).not.toEqual(resultOf(draws, { seed: 8 }))
    const [unit, whole, between] = resultOf(draws, { seed: 3 })
    expect(unit).toBeGreaterThanOrEqual(0)
    expect(unit).toBeLessThan(1)
    expect(Number.isSafeInteger(whole)).toBe(true)
    expect(between >= 5 && between < 9).toBe(true)
  })

  it("resumes after the event that brings something, in the order of what was brought", () => {
    const wheel = new BareWheel()
    const log: Array<string> = []
    const first = Deferred.makeUnsafe<string>()
    const second = Deferred.makeUnsafe<string>()
    wheel.at(4 * NS, () => {
      Deferred.doneUnsafe(second, Effect.succeed("second"))
      Deferred.doneUnsafe(first, Effect.succeed("first"))
      log.push("event")
    })
    const await_ = (name: string, it: Deferred.Deferred<string>) =>
      Effect.flatMap(Deferred.await(it), () => Effect.map(nanos, (at) => log.push(`${name} at ${at}`)))
    runBare(Effect.all([await_("first", first), await_("second", second)], { concurrency: "unbounded" }), { wheel })
    expect(log.slice(1)).toEqual(["second at 4", "first at 4"])
  })

  it("lets fibers that poll go on until the event they wait for has come", () => {
    const wheel = new BareWheel()
    let done = false
    for (let at = 1; at <= 3; at++) {
      wheel.at(at * NS, () => {
        done = at === 3
      })
    }
    const at = resultOf(Effect.andThen(Effect.yieldNow.pipe(Effect.repeat({ until: () => done })), nanos), { wheel })
    expect(at).toBe(3)
  })
})

describe("a program that cannot go on", { timeout: 30_000 }, () => {
  it("is stalled, which says when and what is outstanding, after its finalizers", () => {
    const released: Array<number> = []
    const { fault, exit } = runBare(
      Effect.acquireUseRelease(
        Effect.sleep("5 micros"),
        () => Effect.never,
        () =>
          Effect.andThen(
            Effect.sleep("1 micros"),
            Effect.map(nanos, (at) => released.push(at)),
          ),
      ),
      { outstanding: () => ["queue pair 17 of node 0: 3 sends"] },
    )
    expect(fault).toBeInstanceOf(Stalled)
    expect((fault as Stalled).time).toBe(5 * US)
    expect((fault as Stalled).outstanding).toEqual(["queue pair 17 of node 0: 3 sends"])
    expect(String(fault)).toContain("5us")
    expect(String(fault)).toContain("queue pair 17 of node 0: 3 sends")
    expect(released).toEqual([6000])
    expect(exit !== undefined && Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)).toBe(true)
  })

  it("is stalled at a promise, at a sleep without end, at fibers that poll for nothing", () => {
    const never = [
      Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 1))),
      Effect.sleep(Duration.infinity),
      Effect.forever(Effect.yieldNow),
    ]
    for (const program of never) expect(runBare(program).fault).toBeInstanceOf(Stalled)
  })

  it("is refused when a promise resumes it while time is under way", async () => {
    const wheel = new BareWheel()
    for (let at = 1; at <= 10; at++) wheel.at(at * MS, () => {})
    const seen: Array<string> = []
    const program = Effect.andThen(
      Effect.promise(() => Promise.resolve("from outside")),
      Effect.sync(() => seen.push("went on")),
    )
    const { Context } = await import("effect")
    const run = new VirtualRun(wheel, program, Context.empty(), { seed: 0, until: Infinity, outstanding: () => [] })
    expect(run.step(3)).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(run.step(3)).toBe(false)
    expect(run.fault).toBeInstanceOf(OutsideTime)
    expect(seen).toEqual([])
  })

  it("is ended at the limit of its time", () => {
    const { fault, now } = runBare(Effect.forever(Effect.sleep("1 millis")), { until: 10 * MS })
    expect(fault).toBeInstanceOf(TimeExceeded)
    expect(now).toBe(9 * MS)
  })

  it("fails and dies as it would elsewhere", () => {
    const failed = runBare(Effect.andThen(Effect.sleep("1 nanos"), Effect.fail("no")))
    expect(failed.exit).toEqual(Exit.fail("no"))
    const died = runBare(Effect.die(new Error("a mistake")))
    expect(died.exit !== undefined && Exit.isFailure(died.exit) && Cause.hasDies(died.exit.cause)).toBe(true)
  })
})

describe("the order of what happens", { timeout: 30_000 }, () => {
  it("is the same for the same seed, with a thousand fibers that sleep, wait for each other and interrupt", () => {
    const program = Effect.gen(function* () {
      const log: Array<string> = []
      const shared = yield* Ref.make(0)
      const queue = yield* Queue.bounded<number>(4)
      const fibers = yield* Effect.forEach(
        Array.from({ length: 1000 }, (_, i) => i),
        (i) =>
          Effect.forkChild(
            Effect.gen(function* () {
              const pause = yield* Random.nextBetween(1, 200)
              yield* Effect.sleep(Duration.nanos(BigInt(Math.floor(pause))))
              if (i % 2 === 0) yield* Queue.offer(queue, i)
              else log.push(`${i} took ${yield* Queue.take(queue)} at ${yield* nanos}`)
              yield* Ref.update(shared, (n) => n + 1)
            }).pipe(
              Effect.timeoutOption("150 nanos"),
              Effect.onInterrupt(() => Effect.sync(() => log.push(`${i} ended`))),
            ),
          ),
      )
      yield* Effect.sleep("120 nanos")
      for (const fiber of fibers.slice(0, 100)) yield* Fiber.interrupt(fiber)
      yield* Effect.forEach(fibers.slice(100), Fiber.await)
      return { log, count: yield* Ref.get(shared) }
    })
    const first = resultOf(program, { seed: 5 })
    expect(first.log.length).toBeGreaterThan(300)
    expect(resultOf(program, { seed: 5 })).toEqual(first)
    expect(resultOf(program, { seed: 6 })).not.toEqual(first)
  })
})
