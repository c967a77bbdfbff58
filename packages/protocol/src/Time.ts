/** A moment or a span, integer picoseconds in a double: exact to 2^53 ps, two and a half hours. */
export type Time = number

/** Later than every moment. */
export const NEVER: Time = Infinity
