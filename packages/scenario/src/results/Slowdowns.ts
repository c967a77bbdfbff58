import type { RunOutcome } from "@rdmakit/fabric"
import { type SizeBucket, slowdown, slowdownBySize, statsOf } from "@rdmakit/metrics"
import { NEVER } from "@rdmakit/protocol"

/** Slowdown of each flow against the run's ideal completions; NaN of one that did not finish. */
export const slowdownsOf = ({ flows, idealPs }: RunOutcome): Float64Array =>
  Float64Array.from({ length: flows.count }, (_, flow) =>
    flows.finished[flow] === NEVER ? Number.NaN : slowdown(flows.completionTime(flow), idealPs[flow]!),
  )

/** Slowdown by size, by the rules of `metrics`; empty ranges are left out. All flows come last, their end is NaN. */
export const slowdownRows = (outcome: RunOutcome): ReadonlyArray<SizeBucket> => {
  const slowdowns = slowdownsOf(outcome)
  const rows = slowdownBySize(outcome.flows.bytes, slowdowns).filter(({ count }) => count > 0)
  return [...rows, { endBytes: Number.NaN, ...statsOf(slowdowns.filter((value) => !Number.isNaN(value))) }]
}
