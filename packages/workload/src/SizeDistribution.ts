import { WorkloadError } from "./WorkloadError.ts"

/** A flow size, and the share of flows up to it in percent. */
export type SizePoint = readonly [bytes: number, percent: number]

/** What is wrong with a point of a distribution. */
export interface PointFault {
  /** Which of its two numbers: 0 the size, 1 the percentage. */
  readonly part: 0 | 1
  readonly expected: string
  readonly hint?: string
}

export const POINTS_MAX = 1_000_000

/**
 * What is wrong with a point, given the one before it; undefined when nothing is. Both numbers ascend. Of two points
 * one number may be the same: the same size with more percent are flows of just that size, more bytes at the same
 * percent are sizes that no flow has. (The public generator of HPCC's simulator refuses both.) A flow has a byte or
 * more, so that no share of them lies below: only where flows begin, at 0 percent, may a smaller size stand.
 */
export const pointFault = ([bytes, percent]: SizePoint, before: SizePoint | undefined): PointFault | undefined => {
  if (!(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER)) return { part: 0, expected: "a size of at least 0 bytes" }
  if (!(percent >= 0 && percent <= 100)) return { part: 1, expected: "a percentage 0..100" }
  if (bytes < 1 && percent > 0 && before !== undefined) {
    return { part: 0, expected: "a size of at least 1 byte", hint: "a smaller size may only stand at 0 percent" }
  }
  if (before === undefined) {
    if (percent === 0) return undefined
    const hint = "the first point says below which size no flow is: as a rule `0 0`"
    return { part: 1, expected: "0 percent at the first point", hint }
  }
  if (bytes < before[0]) return { part: 0, expected: `a size of at least ${before[0]}`, hint: "sizes ascend" }
  if (percent < before[1]) {
    const hint = "each percentage is that of all flows up to its size, so they ascend"
    return { part: 1, expected: `a percentage of at least ${before[1]}`, hint }
  }
  if (bytes === before[0] && percent === before[1]) {
    return { part: 0, expected: "another point", hint: "it is the same as the one before" }
  }
  return undefined
}

/** What is wrong with the end of a distribution; undefined when nothing is. */
export const endFault = (points: ReadonlyArray<SizePoint>): PointFault | undefined => {
  const last = points.at(-1)
  if (last === undefined || points.length < 2) return { part: 0, expected: "two points or more" }
  const [, percent] = last
  if (percent === 100) return undefined
  const shares = percent === 1 ? "these look like shares of 1: multiply them by 100" : undefined
  return { part: 1, expected: "100 percent at the last point", ...(shares === undefined ? {} : { hint: shares }) }
}

/** Sizes of flows, given by points of their cumulative distribution; between two points all sizes are equally likely. */
export class SizeDistribution {
  /**
   * Bytes of the mean flow: each straight piece counts with the middle of its sizes. Flows have whole bytes, one or
   * more, and so their mean may be up to half a byte from it.
   */
  readonly meanBytes: number
  readonly points: ReadonlyArray<SizePoint>

  /**
   * @param points ascending, from 0 percent to 100; at most a million
   * @throws WorkloadError "sizes"
   */
  constructor(points: ReadonlyArray<SizePoint>) {
    if (points.length > POINTS_MAX) throw new WorkloadError("sizes", points.length, `at most ${POINTS_MAX} points`)
    let mean = 0
    for (const [i, point] of points.entries()) {
      const before = points[i - 1]
      const fault = pointFault(point, before)
      if (fault !== undefined) throw new WorkloadError("sizes", `[${point}] at ${i}`, fault.expected, fault.hint)
      if (before === undefined) continue
      mean += ((point[0] + before[0]) / 2) * ((point[1] - before[1]) / 100)
    }
    const fault = endFault(points)
    if (fault !== undefined) throw new WorkloadError("sizes", `[${points.at(-1) ?? ""}]`, fault.expected, fault.hint)
    this.points = points
    this.meanBytes = mean
  }

  /**
   * The size below which a share of the flows lies, whole bytes, at least one.
   *
   * @param share 0 to 1
   */
  bytesAt(share: number): number {
    const percent = share * 100
    const { points } = this
    let low = 1
    let high = points.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (points[middle]![1] < percent) low = middle + 1
      else high = middle
    }
    const [bytes, percentAt] = points[low]!
    const [bytesBefore, percentBefore] = points[low - 1]!
    // Only at the very beginning can a gap be hit: its end is the smallest size there is.
    const part = percentAt === percentBefore ? 1 : (percent - percentBefore) / (percentAt - percentBefore)
    return Math.max(1, Math.round(bytesBefore + (bytes - bytesBefore) * part))
  }

  /** The share of flows, 0 to 1, of at most so many bytes: what the points draw. */
  shareUpTo(bytes: number): number {
    const { points } = this
    if (bytes < points[0]![0]) return 0
    let low = 0
    let high = points.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (points[middle]![0] <= bytes) low = middle + 1
      else high = middle
    }
    if (low === points.length) return 1
    const [above, percentAbove] = points[low]!
    const [below, percentBelow] = points[low - 1]!
    return (percentBelow + ((percentAbove - percentBelow) * (bytes - below)) / (above - below)) / 100
  }
}

/**
 * Flows of one size.
 *
 * @param bytes whole, 1 or more
 * @throws WorkloadError "sizes"
 */
export const fixedSize = (bytes: number): SizeDistribution => {
  if (!(Number.isSafeInteger(bytes) && bytes >= 1)) throw new WorkloadError("sizes", bytes, "whole bytes, 1 or more")
  return new SizeDistribution([
    [bytes, 0],
    [bytes, 100],
  ])
}
