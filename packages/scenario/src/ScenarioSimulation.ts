import {
  type KernelName,
  NativeRun,
  type Run,
  type RunOutcome,
  type RunProgress,
  type Watch,
  type World,
} from "@rdmakit/fabric"
import type { ScenarioInputs } from "./Scenario.ts"

/** A run of a scenario, in steps, as {@link Ns3Simulation} is one of an ns-3 config. */
export class ScenarioSimulation implements Run {
  private readonly run: NativeRun

  /**
   * @param options.seed in place of the scenario's own
   * @param options.kernel default: the fused one where it can serve
   * @throws KernelRefused
   */
  constructor(inputs: ScenarioInputs, options: { readonly seed?: number; readonly kernel?: KernelName } = {}) {
    this.run = new NativeRun(
      { ...inputs.network, seed: inputs.seed, ...options },
      { flows: inputs.flows, until: inputs.stopPs },
    )
  }

  get world(): World {
    return this.run.world
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
