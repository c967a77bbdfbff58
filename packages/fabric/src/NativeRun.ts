import { NEVER, type Time } from "@rdmakit/protocol"
import { ChangingIdeal } from "./ChangingIdeal.ts"
import { type Flow, FlowTable } from "./FlowTable.ts"
import { IdealCompletion } from "./IdealCompletion.ts"
import { type NativeOptions, nativeParts } from "./NativeParts.ts"
import { checkUntil } from "./NetworkChecks.ts"
import { type Run, type RunOutcome, type RunProgress, type Watch, WorldRun } from "./Run.ts"
import { World } from "./World.ts"

/** Flows over a network of native parts, in steps. */
export class NativeRun implements Run {
  readonly world: World
  private readonly run: WorldRun

  /**
   * @param work.flows by start
   * @param work.until no event at or after this is executed, ps; default NEVER
   * @throws OptionError of the part whose option is wrong, TopologyError, BufferTooSmall
   */
  constructor(
    options: NativeOptions,
    work: { readonly flows: ReadonlyArray<Flow>; readonly until?: Time; readonly notes?: ReadonlyArray<string> },
  ) {
    checkUntil(work.until)
    const { parts, notes } = nativeParts(options)
    const world = new World(parts, new FlowTable(work.flows))
    const lasting = new IdealCompletion(world, parts)
    const ideal = parts.faults === undefined ? lasting : new ChangingIdeal(world, lasting)
    this.world = world
    this.run = new WorldRun(world, {
      until: work.until ?? NEVER,
      controller: parts.controller.name,
      seed: parts.seed,
      ideal: (flow) => ideal.of(flow),
      // A watchdog may end what looks like a deadlock, and so may a link that goes down.
      endsDeadlocked: parts.watchdog === undefined && parts.faults === undefined,
      notes: [...notes, ...(work.notes ?? [])],
    })
  }

  watch(watch: Watch): void {
    this.run.watch(watch)
  }
  step(budget: number): boolean {
    return this.run.step(budget)
  }
  progress(): RunProgress {
    return this.run.progress()
  }
  outcome(partial: boolean): RunOutcome {
    return this.run.outcome(partial)
  }
}
