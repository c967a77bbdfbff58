/**
 * Which value of n sorted ones stands for the share p, 0 to 1. They differ where there are few values, so a result
 * says which one it used.
 *
 * - `"floor-index"`: the one at index ⌊n·p⌋, the last at most. HPCC's fct_analysis.py takes it.
 * - `"nearest-rank"`: the one at index ⌈n·p⌉ − 1, the first at least: the least value that a share of p does not
 *   exceed (Hyndman and Fan 1996, definition 1).
 * - `"interpolated"`: between the two around index (n − 1)·p, in proportion (Hyndman and Fan 1996, definition 7; what
 *   NumPy, pandas and R take unless told otherwise).
 */
export type QuantileDefinition = "floor-index" | "nearest-rank" | "interpolated"

/** n·p is a whole number when it is as near to one as rounding leaves it: 100 · 0.07 is 7.000000000000001. */
const ROUNDING = 1e-12

/** Rank of the least value that a share of p does not exceed, from 1. */
const nearestRank = (count: number, share: number): number => {
  const rank = count * share
  const whole = Math.round(rank)
  return Math.abs(rank - whole) <= ROUNDING * Math.max(1, whole) ? whole : Math.ceil(rank)
}

/**
 * The p-quantile of values sorted ascending; NaN of none.
 *
 * @param share p, 0 to 1
 * @throws RangeError for another share
 */
export const quantile = (
  sorted: ArrayLike<number>,
  share: number,
  definition: QuantileDefinition = "floor-index",
): number => {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`share is ${share}, expected 0 to 1`)
  const count = sorted.length
  if (count === 0) return Number.NaN
  const at = (index: number): number => sorted[Math.min(Math.max(index, 0), count - 1)]!
  switch (definition) {
    case "floor-index":
      return at(Math.floor(count * share))
    case "nearest-rank":
      return at(nearestRank(count, share) - 1)
    case "interpolated": {
      const place = (count - 1) * share
      const below = at(Math.floor(place))
      const above = at(Math.floor(place) + 1)
      // Infinity less Infinity is no number.
      return above === below ? below : below + (above - below) * (place - Math.floor(place))
    }
  }
}

/** Some values in a few figures; NaN where there is none. */
export interface Stats {
  readonly count: number
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** The stats of some values, in any order: the order changes no bit of them. */
export const statsOf = (values: Iterable<number>, definition: QuantileDefinition = "floor-index"): Stats => {
  const sorted = Float64Array.from(values).sort()
  let sum = 0
  for (const value of sorted) sum += value
  return {
    count: sorted.length,
    mean: sum / sorted.length,
    p50: quantile(sorted, 0.5, definition),
    p95: quantile(sorted, 0.95, definition),
    p99: quantile(sorted, 0.99, definition),
  }
}
