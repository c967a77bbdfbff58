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
  /** What flows were told by: hosts and both ports, or hosts, size and start where none has the ports of another. */
  readonly matchedBy: "ports" | "start"
  /** Matched flows with the same completion time. */
  readonly identical: number
  /** Matched flows of which every field is the same; none of those matched by their start, whose ports differ. */
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
 *
 * Simulators number ports differently. Where no flow of one file has the hosts and ports of one of the other, flows are
 * matched by source, destination, size and start, to 1 ns, instead, if that tells all flows of each file apart.
 */
export const compareFct = (a: Ns3Fcts, b: Ns3Fcts, options: BucketOptions = {}): FctComparison => {
  const { pairing, matchedBy } = matchFlows(a, b)
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
    if (gap === 0 && matchedBy === "ports" && sameOtherwise(a, indexA, b, indexB)) identicalLines++
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
    matchedBy,
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

/** By hosts and ports; where that finds no pair, by hosts, size and start. */
const matchFlows = (a: Ns3Fcts, b: Ns3Fcts) => {
  const byPorts = { pairing: pairFlows(a, b), matchedBy: "ports" } as const
  if (a.count === 0 || byPorts.pairing.alone.length < b.count) return byPorts
  const pairing = pairByStart(a, b)
  return pairing === undefined ? byPorts : ({ pairing, matchedBy: "start" } as const)
}

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
  return { partner, alone: untaken(taken) }
}

const untaken = (taken: Uint8Array): ReadonlyArray<number> => {
  const alone: Array<number> = []
  for (let j = 0; j < taken.length; j++) if (taken[j] === 0) alone.push(j)
  return alone
}

/** The original keeps a start of so many seconds in a double and cuts it off: it may be 1 ns early. */
const START_NS = 1

/** What flows are told apart by when ports do not count, but for the start. */
const compareEnds = (a: Ns3Fcts, i: number, b: Ns3Fcts, j: number): number =>
  a.src[i]! - b.src[j]! || a.dst[i]! - b.dst[j]! || a.sizeBytes[i]! - b.sizeBytes[j]!

/** Flows in order of hosts, size and start; undefined where two of them could be one and the same. */
const orderByStart = (fcts: Ns3Fcts): ReadonlyArray<number> | undefined => {
  const order = Array.from({ length: fcts.count }, (_, index) => index)
  order.sort((i, j) => compareEnds(fcts, i, fcts, j) || fcts.startNs[i]! - fcts.startNs[j]!)
  const isLikeNext = (index: number, place: number): boolean => {
    const next = order[place + 1]
    if (next === undefined || compareEnds(fcts, index, fcts, next) !== 0) return false
    return fcts.startNs[next]! - fcts.startNs[index]! <= 2 * START_NS
  }
  return order.some(isLikeNext) ? undefined : order
}

/** Flows of the same hosts and size that start together; undefined where there are none, or it is not clear which. */
const pairByStart = (a: Ns3Fcts, b: Ns3Fcts) => {
  const [orderA, orderB] = [orderByStart(a), orderByStart(b)]
  if (orderA === undefined || orderB === undefined) return undefined
  const partner = new Int32Array(a.count).fill(-1)
  const taken = new Uint8Array(b.count)
  let matched = 0
  for (let atA = 0, atB = 0; atA < a.count && atB < b.count; ) {
    const [i, j] = [orderA[atA]!, orderB[atB]!]
    const apart = a.startNs[i]! - b.startNs[j]!
    const order = compareEnds(a, i, b, j) || (Math.abs(apart) <= START_NS ? 0 : apart)
    if (order === 0) {
      partner[i] = j
      taken[j] = 1
      matched++
    }
    if (order <= 0) atA++
    if (order >= 0) atB++
  }
  return matched === 0 ? undefined : { partner, alone: untaken(taken) }
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
