import { type SizeBucket, type SizeBucketOptions, type Stats, slowdown, slowdownBySize } from "@rdmakit/metrics"
import type { Ns3Fcts } from "./Fct.ts"

export interface BucketOptions extends SizeBucketOptions {
  /** Which flows count: all unless said otherwise. fct_analysis.py takes those of dport 100 (200: incast). */
  readonly where?: (fcts: Ns3Fcts, index: number) => boolean
}

/** The slowdown percentiles of the flows by size. Flows above the last end are in no bucket. */
export const slowdownBuckets = (fcts: Ns3Fcts, options: BucketOptions = {}): ReadonlyArray<SizeBucket> => {
  const slowdowns = new Float64Array(fcts.count).fill(Number.NaN)
  for (let i = 0; i < fcts.count; i++) {
    if (options.where?.(fcts, i) === false) continue
    slowdowns[i] = slowdown(fcts.fctNs[i]!, fcts.standaloneFctNs[i]!)
  }
  return slowdownBySize(fcts.sizeBytes.subarray(0, fcts.count), slowdowns, options)
}

/** A flow that is in both files: its index in each, and how far apart its completion times are. */
export interface FctPair {
  readonly indexA: number
  readonly indexB: number
  readonly fctNsA: number
  readonly fctNsB: number
  /** |b − a| / a. */
  readonly difference: number
}

export interface FctComparison {
  readonly buckets: ReadonlyArray<{ readonly endBytes: number; readonly a: Stats; readonly b: Stats }>
  /** Flows in both files. */
  readonly matched: number
  /** Matched flows with the same completion time. */
  readonly identical: number
  /** Matched flows of which every field is the same. */
  readonly identicalLines: number
  /** Matched flows whose completion times differ by at most 1 %, identical ones included. */
  readonly withinOnePercent: number
  /** The matched flow that differs most, the first of equals; undefined when none differs. */
  readonly worst: FctPair | undefined
  /** Indices in b of flows that a does not have, and the other way round. */
  readonly missingInA: ReadonlyArray<number>
  readonly missingInB: ReadonlyArray<number>
}

/**
 * Compares two files of completion times, flows matched by source, destination and both ports, and repeated ones by
 * their order. The order of lines does not matter otherwise.
 */
export const compareFct = (a: Ns3Fcts, b: Ns3Fcts, options: BucketOptions = {}): FctComparison => {
  const pairing = pairFlows(a, b)
  let matched = 0
  let identical = 0
  let identicalLines = 0
  let withinOnePercent = 0
  let worst: FctPair | undefined
  const missingInB: Array<number> = []
  for (let indexA = 0; indexA < a.count; indexA++) {
    const indexB = pairing.partner[indexA]!
    if (indexB < 0) {
      missingInB.push(indexA)
      continue
    }
    matched++
    const fctNsA = a.fctNs[indexA]!
    const fctNsB = b.fctNs[indexB]!
    const gap = Math.abs(fctNsB - fctNsA)
    if (gap === 0) identical++
    if (gap === 0 && sameOtherwise(a, indexA, b, indexB)) identicalLines++
    if (gap * 100 <= fctNsA) withinOnePercent++
    const difference = gap === 0 ? 0 : gap / fctNsA
    if (difference > (worst?.difference ?? 0)) worst = { indexA, indexB, fctNsA, fctNsB, difference }
  }
  const bucketsB = slowdownBuckets(b, options)
  const buckets = slowdownBuckets(a, options).map(({ endBytes, ...stats }, index) => {
    const { endBytes: _, ...other } = bucketsB[index]!
    return { endBytes, a: stats, b: other }
  })
  return {
    buckets,
    matched,
    identical,
    identicalLines,
    withinOnePercent,
    worst,
    missingInA: pairing.alone,
    missingInB,
  }
}

const sameOtherwise = (a: Ns3Fcts, i: number, b: Ns3Fcts, j: number): boolean =>
  a.sizeBytes[i] === b.sizeBytes[j] && a.startNs[i] === b.startNs[j] && a.standaloneFctNs[i] === b.standaloneFctNs[j]

/** Queues of the flows of b that have the same hosts and ports, in their order: a flow of a takes the first of its queue. */
const pairFlows = (a: Ns3Fcts, b: Ns3Fcts) => {
  const keyOf = flowKeys()
  const heads = new Map<number, number>()
  const next = new Int32Array(b.count)
  for (let j = b.count - 1; j >= 0; j--) {
    const key = keyOf(b, j)
    next[j] = heads.get(key) ?? -1
    heads.set(key, j)
  }
  const partner = new Int32Array(a.count).fill(-1)
  const taken = new Uint8Array(b.count)
  for (let i = 0; i < a.count; i++) {
    const key = keyOf(a, i)
    const j = heads.get(key) ?? -1
    if (j < 0) continue
    heads.set(key, next[j]!)
    taken[j] = 1
    partner[i] = j
  }
  const alone: Array<number> = []
  for (let j = 0; j < b.count; j++) if (taken[j] === 0) alone.push(j)
  return { partner, alone }
}

/**
 * Numbers that say which flows have the same hosts and ports, so that a million flows need no string each. The four
 * fields of 16 bits are more than a double has: the first three are counted, in the order in which they are met.
 */
const flowKeys = (): ((fcts: Ns3Fcts, index: number) => number) => {
  const numbers = new Map<number, number>()
  return (fcts, index) => {
    const first = (fcts.src[index]! * 0x10000 + fcts.dst[index]!) * 0x10000 + fcts.sport[index]!
    let number = numbers.get(first)
    if (number === undefined) {
      number = numbers.size
      numbers.set(first, number)
    }
    return number * 0x10000 + fcts.dport[index]!
  }
}
