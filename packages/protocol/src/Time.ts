/** A moment or a span, integer picoseconds in a double: exact to 2^53 ps, two and a half hours. */
export type Time = number

/** Later than every moment. */
export const NEVER: Time = Infinity

/**
 * Zero, as a double: what a field begins with that will hold times, rates or shares. One that begins with the small integer
 * changes its kind when the first of them comes, in the middle of a run, and compiled code is thrown away for it.
 */
export const DOUBLE_ZERO: number = -0
