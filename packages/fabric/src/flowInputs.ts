import type { FlowInput } from "./Workload.ts"

/** A flow as the workloads of `@rdmakit/workload` have them, in bytes and ps. */
export interface TimedFlow extends Omit<FlowInput, "size" | "start"> {
  /** Whole, 0 or more. */
  readonly sizeBytes: number
  /** Whole picoseconds, 0 or more. */
  readonly startPs: number
}

/** Flows of a workload as a fabric takes them: `simulateFlows(flowInputs(poissonFlows(options)))`. */
export const flowInputs = (flows: ReadonlyArray<TimedFlow>): Array<FlowInput> =>
  flows.map(({ sizeBytes: size, startPs: start, ...rest }) => ({ ...rest, size, start }))
