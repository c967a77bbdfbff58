import * as Quantity from "./Quantity.ts"
import type { UnitError } from "./UnitError.ts"

/**
 * A moment or a span: integer picoseconds in a double. Exact to 2^53 ps, about two and a half hours.
 * A picosecond divides every bit time in use: 1 bit at 400 Gb/s is 2.5 ps, one byte 20 ps.
 */
export type Time = number

export const PICOSECOND: Time = 1
export const NANOSECOND: Time = 1e3
export const MICROSECOND: Time = 1e6
export const MILLISECOND: Time = 1e9
export const SECOND: Time = 1e12

/** Later than every moment. */
export const NEVER: Time = Number.POSITIVE_INFINITY

const quantity: Quantity.Quantity = {
  name: "time",
  base: "picosecond",
  units: new Map([
    ["ps", 1n],
    ["ns", 1_000n],
    ["us", 1_000_000n],
    ["µs", 1_000_000n], // U+00B5, micro sign
    ["μs", 1_000_000n], // U+03BC, Greek mu
    ["ms", 1_000_000_000n],
    ["s", 1_000_000_000_000n],
    ["min", 60_000_000_000_000n],
    ["h", 3_600_000_000_000_000n],
  ]),
  listed: ["ps", "ns", "us", "ms", "s", "min", "h"],
  bare: false,
  whole: true,
}

/**
 * Reads a time such as "1us", "0.001ms", "640 ns" or "2s", exactly.
 *
 * @returns picoseconds, 0 to 2^53 − 1
 * @throws UnitError for a negative, empty or unknown text, a missing unit, digits below a picosecond
 */
export const parseTime = (text: string): Time => Quantity.parse(quantity, text)

/** What `parseTime` reads matches it; it is for schemas, and `parseTime` decides. */
export const timePattern: RegExp = Quantity.patternOf(quantity)

/** `parseTime` that returns the error instead of throwing it. */
export const tryParseTime = (text: string): Time | UnitError => Quantity.tryParse(quantity, text)

const decimals: ReadonlyArray<Quantity.Decimal> = [
  { unit: "s", power: 12 },
  { unit: "ms", power: 9 },
  { unit: "us", power: 6 },
  { unit: "ns", power: 3 },
  { unit: "ps", power: 0 },
]

/**
 * Writes a time exactly, in the largest unit that leaves at least one before the point: 1500 is "1.5ns".
 * `parseTime` reads it back to the same number. `NEVER` is "never"; a negative span has a minus sign.
 */
export const formatTime = (timePs: Time): string => {
  if (Number.isNaN(timePs)) return "NaN"
  if (!Number.isFinite(timePs)) return timePs > 0 ? "never" : "-never"
  return timePs === 0 ? "0s" : Quantity.format(timePs, decimals)
}
