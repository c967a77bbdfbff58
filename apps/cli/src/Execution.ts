import { type RunFault, stepRun } from "@rdmakit/fabric"
import type { Run, RunOutcome } from "@rdmakit/scenario"
import { Effect } from "effect"
import { prepareCompiler } from "./Compiler.ts"
import { Interrupts } from "./Interrupts.ts"
import { ProgressLine } from "./ProgressLine.ts"
import { Screen } from "./Screen.ts"

/** Events between two looks at the outside: a few tens of milliseconds. */
const BATCH = 1 << 16

/** What a run cost: of this process, and so not the same twice. */
export interface RunCost {
  /** User and system time since `since`. */
  readonly cpuSeconds: number
  readonly wallSeconds: number
  /** Of the process, so far. */
  readonly peakRssBytes: number
}

/** Measures from now on; `cpuSeconds` counts the whole process when `fromStart`. */
export const costMeter = (fromStart: boolean): (() => RunCost) => {
  const cpu = fromStart ? undefined : process.cpuUsage()
  const wall = fromStart ? 0 : performance.now()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    return {
      cpuSeconds: (user + system) / 1e6,
      wallSeconds: (performance.now() - wall) / 1e3,
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
    }
  }
}

/** Signals and streams have their turn. */
const breathe = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Drives a run to its end, telling how far it has come; Ctrl-C stops it, and its outcome is partial. */
export const execute = (run: Run): Effect.Effect<RunOutcome, RunFault, Screen | Interrupts> =>
  Effect.gen(function* () {
    const { err } = yield* Screen
    const interrupts = yield* Interrupts
    let stopped = false
    prepareCompiler()
    yield* interrupts.hold(() => {
      stopped = true
    })
    const line = new ProgressLine(err, () => performance.now())
    while (!stopped && (yield* stepRun(run, BATCH))) {
      yield* line.update(run.progress())
      yield* breathe
    }
    yield* line.clear
    return run.outcome(stopped)
  }).pipe(Effect.scoped)
