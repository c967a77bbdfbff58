import type { RunOutcome } from "@rdmakit/fabric"
import { type SizeBucket, slowdown, slowdownBySize, statsOf } from "@rdmakit/metrics"
import { NEVER } from "@rdmakit/protocol"

/** Slowdown of each flow against the run's ideal completions; NaN of one that did not finish. */
export const slowdownsOf = ({ flows, idealPs }: RunOutcome): Float64Array =>
  Float64Array.from({ length: flows.count }, (_, flow) =>
    flows.finished[flow] === NEVER ? Number.NaN : slowdown(flows.completionTime(flow), idealPs[flow]!),
  )

/** Slowdown by size, by the rules of `metrics`; empty ranges are left out. All flows come last, their end is NaN. */
export const slowdownRows = (outcome: RunOutcome): ReadonlyArray<SizeBucket> =>
  rowsOf(outcome.flows.bytes, slowdownsOf(outcome))

const rowsOf = (bytes: Float64Array, slowdowns: Float64Array): ReadonlyArray<SizeBucket> => {
  const rows = slowdownBySize(bytes, slowdowns).filter(({ count }) => count > 0)
  return [...rows, { endBytes: Number.NaN, ...statsOf(slowdowns.filter((value) => !Number.isNaN(value))) }]
}

/** The tenth after the ninth. */
const byNumber = new Intl.Collator("en", { numeric: true })

/** How the flows of one workload fared. */
export interface WorkloadSlowdown {
  readonly workload: string
  /** Flows of it, finished or not. */
  readonly flows: number
  /** As of `slowdownRows`. */
  readonly rows: ReadonlyArray<SizeBucket>
}

/** Slowdown by workload, each by size: what is sent all the time apart from bursts, say. None where there is but one. */
export const slowdownByWorkload = (outcome: RunOutcome): ReadonlyArray<WorkloadSlowdown> => {
  const { bytes, workload, workloads } = outcome.flows
  if (workloads.length < 2) return []
  const own = workloads.map((name) => ({ name, bytes: [] as Array<number>, slowdowns: [] as Array<number> }))
  for (const [flow, value] of slowdownsOf(outcome).entries()) {
    const part = own[workload[flow]!]!
    part.bytes.push(bytes[flow]!)
    part.slowdowns.push(value)
  }
  return own
    .map(({ name, bytes, slowdowns }) => ({
      workload: name,
      flows: bytes.length,
      rows: rowsOf(Float64Array.from(bytes), Float64Array.from(slowdowns)),
    }))
    .sort((a, b) => byNumber.compare(a.workload, b.workload))
}
