import { type QuantileDefinition, type Stats, statsOf } from "./Quantile.ts"

/**
 * How many times as long as an ideal a flow took, at least 1: a flow as quick as its ideal, or quicker than an ideal
 * that was reckoned too long, has slowdown 1 (as fct_analysis.py of HPCC's simulator has it).
 *
 * The ideal is the caller's to state, in the unit of the completion time: slowdowns against two of them do not compare.
 * In use are the completion alone in the network, packet by packet (`fabric`), and the closed formula of HPCC's
 * simulator (`ns3`: `standaloneFctNs`), which leaves out telemetry and lies below or above the former.
 */
export const slowdown = (completion: number, ideal: number): number => (completion <= ideal ? 1 : completion / ideal)

/** The ends of the ranges of sizes that results are given for, bytes; each belongs to the range that it ends. */
export const sizeEnds: ReadonlyArray<number> = [
  300,
  1000,
  2000,
  10_000,
  50_000,
  120_000,
  500_000,
  1e6,
  5e6,
  Number.POSITIVE_INFINITY,
]

/** Slowdowns of the flows of one range of sizes: above the end of the range before, up to and with `endBytes`. */
export interface SizeBucket extends Stats {
  readonly endBytes: number
}

export interface SizeBucketOptions {
  /** Ends in ascending order, bytes; the last should be Infinity. Default {@link sizeEnds}. */
  readonly ends?: ReadonlyArray<number>
  /** Default "floor-index". */
  readonly definition?: QuantileDefinition
}

/**
 * The stats of slowdowns by flow size, a bucket for each end. Flows whose slowdown is NaN do not count, and flows above
 * the last end are in no bucket.
 *
 * @param sizeBytes of each flow
 * @param slowdowns of each flow, NaN for one that did not finish
 */
export const slowdownBySize = (
  sizeBytes: ArrayLike<number>,
  slowdowns: ArrayLike<number>,
  options: SizeBucketOptions = {},
): ReadonlyArray<SizeBucket> => {
  const ends = options.ends ?? sizeEnds
  const buckets: Array<Array<number>> = ends.map(() => [])
  for (let flow = 0; flow < sizeBytes.length; flow++) {
    const value = slowdowns[flow]!
    if (Number.isNaN(value)) continue
    const size = sizeBytes[flow]!
    buckets[ends.findIndex((end) => size <= end)]?.push(value)
  }
  return ends.map((endBytes, index) => ({ endBytes, ...statsOf(buckets[index]!, options.definition) }))
}
