import { PoolExhausted } from "@rdmakit/packet"
import { ControllerFault, TransportFault } from "@rdmakit/protocol"
import { NicFault, PacketFault } from "@rdmakit/sim"
import { LoadBalancerFault, SwitchFault } from "@rdmakit/switch"
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
 * What may go wrong while a run is under way: a controller, a transport, a NIC, a switch or its load balancer broke its
 * contract, or more packets live than there is room for.
 */
export type RunFault =
  | ControllerFault
  | LoadBalancerFault
  | NicFault
  | PacketFault
  | PoolExhausted
  | SwitchFault
  | TransportFault

const faults = [ControllerFault, LoadBalancerFault, NicFault, PacketFault, PoolExhausted, SwitchFault, TransportFault]

/** Whatever else is thrown is a mistake of ours, or of a part of one's own: it dies as one. */
export const faultOf = (cause: unknown): RunFault => {
  if (faults.some((fault) => cause instanceof fault)) return cause as RunFault
  throw cause
}

/** Executes a batch of events; false when nothing is left to do. */
export const stepRun = (run: Run, budget: number): Effect.Effect<boolean, RunFault> =>
  Effect.try({ try: () => run.step(budget), catch: faultOf })

/**
 * Drives a run to its end, a batch of events at a time: between batches other fibers have their turn, progress is told
 * and a stop is heard. Interruption takes effect there too.
 */
export const simulate = (run: Run, options: SimulateOptions = {}): Effect.Effect<RunOutcome, RunFault> =>
  Effect.gen(function* () {
    for (;;) {
      if (!(yield* stepRun(run, BATCH))) return run.outcome(false)
      options.onProgress?.(run)
      if (options.stopRequested?.() === true) return run.outcome(true)
      yield* Effect.yieldNow
    }
  })
