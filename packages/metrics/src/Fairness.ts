import { NEVER, type Time } from "@rdmakit/units"

/**
 * Jain's fairness index of what each of n takes: (Σx)² / (n · Σx²), from 1/n, one has all, to 1, all have the same
 * (Jain, Chiu and Hawe 1984). 1 when all have nothing.
 *
 * @param shares of each, in any one unit, at least 0; one or more
 * @throws RangeError for none, and for a share that is below 0 or no number
 */
export const jainIndex = (shares: ArrayLike<number>): number => {
  if (shares.length === 0) throw new RangeError("there are no shares, expected at least one")
  let sum = 0
  let squares = 0
  for (let i = 0; i < shares.length; i++) {
    const share = shares[i]!
    if (!(share >= 0)) throw new RangeError(`share ${i} is ${share}, expected at least 0`)
    sum += share
    squares += share * share
  }
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares)
}

export interface ConvergenceOptions {
  /** How far from its fair share a flow may be, as a part of it: 0.05 is 5 %. At least 0. */
  readonly tolerance: number
  /** When the flows were left to themselves, ps; samples before it do not count. Default: the first sample. */
  readonly from?: Time
}

/**
 * How long until every flow stays within a tolerance of its fair share: from `from` to the first sample from which on
 * all are, to the last. NEVER when the last sample is none of those, or there is no sample.
 *
 * @param times of the samples, ps, ascending
 * @param rates of each flow at each time, in the unit of the shares; NaN while a flow is not under way
 * @param fairShares of each flow, above 0
 * @throws RangeError for a negative tolerance, or for as many rates or shares as there are not flows and samples
 */
export const convergenceTime = (
  times: ArrayLike<Time>,
  rates: ReadonlyArray<ArrayLike<number>>,
  fairShares: ArrayLike<number>,
  options: ConvergenceOptions,
): Time => {
  const { tolerance, from = times[0] ?? 0 } = options
  if (!(tolerance >= 0)) throw new RangeError(`tolerance is ${tolerance}, expected at least 0`)
  if (rates.length !== fairShares.length) {
    throw new RangeError(`${rates.length} flows and ${fairShares.length} fair shares, expected as many`)
  }
  for (const [flow, own] of rates.entries()) {
    if (own.length === times.length) continue
    throw new RangeError(`flow ${flow} has ${own.length} rates, expected one for each of ${times.length} samples`)
  }
  const isFair = (sample: number): boolean =>
    rates.every((own, flow) => {
      const share = fairShares[flow]!
      return Number.isNaN(own[sample]!) || Math.abs(own[sample]! - share) <= tolerance * share
    })
  let first = times.length
  while (first > 0 && times[first - 1]! >= from && isFair(first - 1)) first--
  return first === times.length ? NEVER : times[first]! - from
}
