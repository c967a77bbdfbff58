import type { Controller, ControllerFactory } from "@rdmakit/protocol"
import { NEVER } from "@rdmakit/protocol"
import { type FlowInput, flowsOf, type NativeOptions, NativeRun, type RunOutcome } from "../src/index.ts"

export interface Ended {
  readonly run: NativeRun
  readonly outcome: RunOutcome
}

export const start = (options: NativeOptions, flows: ReadonlyArray<FlowInput>, until?: number): NativeRun =>
  new NativeRun(options, { flows: flowsOf(flows, options.graph), ...(until === undefined ? {} : { until }) })

/** Runs flows to the end, or to `until`. */
export const runFlows = (options: NativeOptions, flows: ReadonlyArray<FlowInput>, until?: number): Ended => {
  const run = start(options, flows, until)
  while (run.step(1 << 20)) {}
  return { run, outcome: run.outcome(false) }
}

/** Every host but the last sends `size` to the last. */
export const incast = (senders: number, size: number | string): ReadonlyArray<FlowInput> =>
  Array.from({ length: senders }, (_, source) => ({ source, destination: senders, size }))

/** No control at all: line rate, no window. */
export const lineRate: ControllerFactory = {
  name: "line-rate",
  needs: [],
  make: (_now, { lineRateBps }): Controller => ({
    window: Number.POSITIVE_INFINITY,
    rate: lineRateBps,
    nextTimer: NEVER,
    onSent: () => {},
    onAck: () => false,
    onCnp: () => false,
    onLoss: () => false,
    onTimer: () => false,
    metrics: () => ({}),
  }),
}
