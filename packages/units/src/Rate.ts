import * as Quantity from "./Quantity.ts"
import type { UnitError } from "./UnitError.ts"

/** A data rate: bits per second in a double, not always whole. */
export type Rate = number

const prefixes: ReadonlyArray<readonly [string, bigint]> = [
  ["", 1n],
  ["k", 10n ** 3n],
  ["K", 10n ** 3n],
  ["M", 10n ** 6n],
  ["G", 10n ** 9n],
  ["T", 10n ** 12n],
  ["Ki", 1n << 10n],
  ["Mi", 1n << 20n],
  ["Gi", 1n << 30n],
  ["Ti", 1n << 40n],
]
const suffixes: ReadonlyArray<readonly [string, bigint]> = [
  ["bps", 1n],
  ["b/s", 1n],
  ["bit/s", 1n],
  ["Bps", 8n],
  ["B/s", 8n],
]

const quantity: Quantity.Quantity = {
  name: "rate",
  base: "bit per second",
  units: new Map(
    prefixes.flatMap(([prefix, factor]) =>
      suffixes.map(([suffix, bits]): [string, bigint] => [prefix + suffix, factor * bits]),
    ),
  ),
  listed: ["bps", "kbps", "Mbps", "Gbps", "Tbps", "Gb/s", "GB/s", "Gib/s"],
  bare: true,
  whole: false,
}

/**
 * Reads a rate such as "100Gbps", "50Mb/s", "1000 Mbps" or "1.25GB/s": every spelling of ns-3's DataRate (bps, b/s,
 * Bps, B/s; k, K, M, G decimal; Ki, Mi, Gi binary), and bit/s, T and Ti besides. As in ns-3, a number alone is bits
 * per second. A small b is a bit, a capital B a byte.
 *
 * @returns bits per second: the double nearest to what the text says
 * @throws UnitError for a negative, empty or unknown text
 */
export const parseRate = (text: string): Rate => Quantity.parse(quantity, text)

/** What `parseRate` reads matches it; it is for schemas, and `parseRate` decides. */
export const ratePattern: RegExp = Quantity.patternOf(quantity)

/** `parseRate` that returns the error instead of throwing it. */
export const tryParseRate = (text: string): Rate | UnitError => Quantity.tryParse(quantity, text)

const decimals: ReadonlyArray<Quantity.Decimal> = [
  { unit: "Tbps", power: 12 },
  { unit: "Gbps", power: 9 },
  { unit: "Mbps", power: 6 },
  { unit: "kbps", power: 3 },
  { unit: "bps", power: 0 },
]

/** Writes a rate in the largest unit that leaves at least one before the point: 1e11 is "100Gbps". `parseRate` reads it back to the same number. */
export const formatRate = (rateBps: Rate): string =>
  Number.isFinite(rateBps) ? Quantity.format(rateBps, decimals) : String(rateBps)
