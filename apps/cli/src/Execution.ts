import { type RunFault, stepRun } from "@rdmakit/fabric"
import type { Run, RunOutcome, RunProgress } from "@rdmakit/scenario"
import { Effect } from "effect"
import { prepareCompiler } from "./Compiler.ts"
import { Refused } from "./Exit.ts"
import { counted, grouped, quantity } from "./Figures.ts"
import { Interrupts } from "./Interrupts.ts"
import { heapLimitBytes, isMemoryEnding } from "./Memory.ts"
import { ProgressLine } from "./ProgressLine.ts"
import { Screen, tell } from "./Screen.ts"

/** The results of more flows than this take a while to sum up. */
const TOLD_FLOWS = 100_000

/** Events between two looks at the memory: flows that begin take kilobytes each. */
const BATCH = 1 << 13
/** Batches between two looks at the outside: a few tens of milliseconds. */
const BATCHES = 8

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

const outOfMemory = ({ flowsFinished, flowsTotal }: RunProgress) =>
  new Refused({
    message: `the run needs more memory than the ${quantity(heapLimitBytes(), "B")} that this process may use: ${grouped(flowsFinished)} of ${counted(flowsTotal, "flow")} had finished`,
    hint: "fewer flows at once, or more memory: NODE_OPTIONS=--max-old-space-size=MIB",
  })

/** Drives a run to its end, telling how far it has come; Ctrl-C stops it, and its outcome is partial. */
export const execute = (run: Run): Effect.Effect<RunOutcome, RunFault | Refused, Screen | Interrupts> =>
  Effect.gen(function* () {
    const { err } = yield* Screen
    const interrupts = yield* Interrupts
    let stopped = false
    prepareCompiler()
    yield* interrupts.hold(() => {
      stopped = true
    })
    const line = new ProgressLine(err, () => performance.now())
    const limitBytes = heapLimitBytes()
    let batches = 0
    while (!stopped && (yield* stepRun(run, BATCH))) {
      if (isMemoryEnding(limitBytes)) {
        yield* line.clear
        return yield* outOfMemory(run.progress())
      }
      if (++batches % BATCHES !== 0) continue
      yield* line.update(run.progress())
      yield* breathe
    }
    yield* line.clear
    const { flowsTotal } = run.progress()
    if (stopped && flowsTotal > TOLD_FLOWS)
      yield* tell(`stopped; what there is of ${grouped(flowsTotal)} flows follows`)
    yield* breathe
    return run.outcome(stopped)
  }).pipe(Effect.scoped)
