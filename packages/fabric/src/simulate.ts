import { Effect } from "effect"
import type { Run, RunOutcome } from "./Run.ts"

/** Events between two looks at the outside: a few tens of milliseconds. */
const BATCH = 1 << 16

export interface SimulateOptions {
  /** Called between batches of events. */
  readonly onProgress?: (run: Run) => void
  /** Asked between batches: true stops the run, and its outcome is partial. */
  readonly stopRequested?: () => boolean
}

/**
 * Drives a run to its end, a batch of events at a time: between batches other fibers have their turn, progress is told
 * and a stop is heard. Interruption takes effect there too.
 */
export const simulate = (run: Run, options: SimulateOptions = {}): Effect.Effect<RunOutcome> =>
  Effect.gen(function* () {
    for (;;) {
      if (!run.step(BATCH)) return run.outcome(false)
      options.onProgress?.(run)
      if (options.stopRequested?.() === true) return run.outcome(true)
      yield* Effect.yieldNow
    }
  })
