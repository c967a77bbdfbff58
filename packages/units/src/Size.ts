import * as Quantity from "./Quantity.ts"
import type { UnitError } from "./UnitError.ts"

/** A size: whole bytes. */
export type Size = number

const quantity: Quantity.Quantity = {
  name: "size",
  base: "byte",
  units: new Map([
    ["B", 1n],
    ["kB", 10n ** 3n],
    ["KB", 10n ** 3n],
    ["MB", 10n ** 6n],
    ["GB", 10n ** 9n],
    ["TB", 10n ** 12n],
    ["KiB", 1n << 10n],
    ["MiB", 1n << 20n],
    ["GiB", 1n << 30n],
    ["TiB", 1n << 40n],
  ]),
  listed: ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"],
  bare: true,
  whole: true,
}

/**
 * Reads a size such as "32MiB", "4KB", "500 kB" or "1000". k, K, M, G, T are powers of 1000; Ki, Mi, Gi, Ti powers of
 * 1024; a number alone is bytes.
 *
 * @returns bytes, 0 to 2^53 − 1
 * @throws UnitError for a negative, empty or unknown text, or a fraction of a byte
 */
export const parseSize = (text: string): Size => Quantity.parse(quantity, text)

/** What `parseSize` reads matches it; it is for schemas, and `parseSize` decides. */
export const sizePattern: RegExp = Quantity.patternOf(quantity)

/** `parseSize` that returns the error instead of throwing it. */
export const tryParseSize = (text: string): Size | UnitError => Quantity.tryParse(quantity, text)

const decimals: ReadonlyArray<Quantity.Decimal> = [
  { unit: "TB", power: 12 },
  { unit: "GB", power: 9 },
  { unit: "MB", power: 6 },
  { unit: "kB", power: 3 },
  { unit: "B", power: 0 },
]

/** Writes a size exactly: binary units when it is a whole number of them and that is shorter ("32MiB"), decimal ones otherwise ("1.5kB"). */
export const formatSize = (bytes: Size): string => {
  if (!Number.isFinite(bytes)) return String(bytes)
  const decimal = Quantity.format(bytes, decimals)
  let count = bytes
  let steps = 0
  while (steps < binaries.length && count !== 0 && count % 1024 === 0) {
    count /= 1024
    steps++
  }
  if (steps === 0) return decimal
  const binary = `${count}${binaries[steps - 1]}`
  return binary.length < decimal.length ? binary : decimal
}

const binaries: ReadonlyArray<string> = ["KiB", "MiB", "GiB", "TiB"]
