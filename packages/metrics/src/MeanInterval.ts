/** A mean and how well a few values say it. */
export interface MeanInterval {
  readonly count: number
  readonly mean: number
  /** The mean of the values' distribution is within so much of `mean` with 95 % confidence; NaN of fewer than two. */
  readonly halfWidth: number
}

/**
 * Upper 2.5 % points of Student's t with 1, 2, … 30 degrees of freedom (NIST/SEMATECH e-Handbook of Statistical
 * Methods, §1.3.6.7.2; column 0.975).
 */
const T_TABLE = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]

/** The same point of the normal distribution, to which Student's t tends. */
const Z = 1.959964

/**
 * The upper 2.5 % point of Student's t: from the table, then the first three terms of its expansion in one over the
 * degrees of freedom (Abramowitz and Stegun, 26.7.5), which beyond 30 are right to more digits than the table has.
 *
 * @param freedom degrees of freedom, 1 or more
 */
export const studentT975 = (freedom: number): number => {
  const tabled = T_TABLE[freedom - 1]
  if (tabled !== undefined) return tabled
  const z3 = Z * Z * Z
  const first = (z3 + Z) / 4
  const second = (5 * z3 * Z * Z + 16 * z3 + 3 * Z) / 96
  return Z + first / freedom + second / (freedom * freedom)
}

/**
 * The mean of values and its 95 % confidence interval by Student's t: the values are taken for independent draws of one
 * nearly normal distribution, such as a figure of runs that differ in their seed alone. NaN of none.
 */
export const meanInterval = (values: ArrayLike<number>): MeanInterval => {
  const count = values.length
  // From the first value: equal values have themselves as their mean, to the last bit, and an interval of no width.
  const first = count === 0 ? Number.NaN : values[0]!
  let sum = 0
  for (let i = 0; i < count; i++) sum += values[i]! - first
  const mean = count === 0 ? Number.NaN : first + sum / count
  if (count < 2) return { count, mean, halfWidth: Number.NaN }
  let squares = 0
  for (let i = 0; i < count; i++) squares += (values[i]! - mean) * (values[i]! - mean)
  const deviation = Math.sqrt(squares / (count - 1))
  return { count, mean, halfWidth: (studentT975(count - 1) * deviation) / Math.sqrt(count) }
}
