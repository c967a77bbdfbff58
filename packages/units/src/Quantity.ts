import { UnitError } from "./UnitError.ts"

/** A kind of quantity: how its texts are read. */
export interface Quantity {
  /** "time", "rate", "size": it appears in messages. */
  readonly name: string
  /** The unit a value counts, in words: "picosecond". */
  readonly base: string
  /** Accepted spellings; each says how many base units it is. */
  readonly units: ReadonlyMap<string, bigint>
  /** The spellings a message lists. */
  readonly listed: ReadonlyArray<string>
  /** Whether a number without a unit counts base units; otherwise it is an error. */
  readonly bare: boolean
  /** Whether the value is a whole number of base units, below 2^53. */
  readonly whole: boolean
}

// An optional sign is read so that the message can say "negative" instead of "no number".
const pattern = /^([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,4}))?\s*(.*)$/
/** Longest text that is looked at: a quantity is a few characters, and exact arithmetic on more is wasted. */
const TEXT_LENGTH_MAX = 64
/** Largest power of ten in a text, either sign: beyond it lies no time, rate or size. */
const EXPONENT_MAX = 64

/** Reads a quantity with exact decimal arithmetic: digits are scaled as integers, so "0.1ns" is 100 ps and not 100.00000000000001. */
export const tryParse = (quantity: Quantity, text: string): number | UnitError => {
  const fail = (reason: string, suggestion?: string): UnitError =>
    new UnitError(quantity.name, text, reason, [...quantity.units.keys()], suggestion)
  if (typeof text !== "string") return fail(`it is a ${typeof text}, no text`)
  const accepted = `accepted units: ${quantity.listed.join(", ")}`
  if (text.length > TEXT_LENGTH_MAX) return fail(`longer than ${TEXT_LENGTH_MAX} characters`)
  const trimmed = text.trim()
  if (trimmed === "") return fail("empty")
  const match = pattern.exec(trimmed)
  if (match === null) return fail(`it does not start with a number; ${accepted}`)
  const [, sign = "", number = "", exponentText = "0", unit = ""] = match
  if (sign === "-") return fail("negative")
  if (unit === "" && !quantity.bare) return fail(`the unit is missing; ${accepted}`)
  const scale = unit === "" ? 1n : quantity.units.get(unit)
  if (scale === undefined) return fail(`unknown unit "${unit}"; ${accepted}`, nearest(unit, quantity))
  const exponent = Number(exponentText)
  if (Math.abs(exponent) > EXPONENT_MAX) return fail("out of range")

  const point = number.indexOf(".")
  const fraction = point < 0 ? "" : number.slice(point + 1)
  const digits = point < 0 ? number : number.slice(0, point) + fraction
  const scaled = BigInt(digits) * scale
  const power = exponent - fraction.length
  if (!quantity.whole) return Number(`${scaled}e${power}`)
  const value = power >= 0 ? scaled * 10n ** BigInt(power) : scaled / 10n ** BigInt(-power)
  if (power < 0 && value * 10n ** BigInt(-power) !== scaled) return fail(`finer than a ${quantity.base}`)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) return fail(`larger than 2^53 ${quantity.base}s, the exact range`)
  return Number(value)
}

/**
 * A regular expression that every text of a quantity matches, and few others do: those that are out of range, or finer
 * than a base unit.
 */
export const patternOf = ({ units, bare }: Quantity): RegExp => {
  const names = [...units.keys()].sort((a, b) => b.length - a.length).join("|")
  const exponent = "(?:[eE][+\\-]?\\d{1,4})?"
  return new RegExp(`^\\s*\\+?(?:\\d+\\.?\\d*|\\.\\d+)${exponent}\\s*(?:${names})${bare ? "?" : ""}\\s*$`, "u")
}

/** Reads a quantity; throws `UnitError`. */
export const parse = (quantity: Quantity, text: string): number => {
  const value = tryParse(quantity, text)
  if (value instanceof UnitError) throw value
  return value
}

/** One way to write a quantity: the unit and its power of ten over the base unit. */
export interface Decimal {
  readonly unit: string
  readonly power: number
}

/** Writes a value exactly, in the first of the units (largest first) in which it is at least one. */
export const format = (value: number, units: ReadonlyArray<Decimal>): string => {
  const size = Math.abs(value)
  const last = units[units.length - 1]!
  const { unit, power } = units.find((each) => size >= Number(`1e${each.power}`)) ?? last
  return `${value < 0 ? "-" : ""}${shifted(size, size === 0 ? 0 : power)}${size === 0 ? last.unit : unit}`
}

/** The decimal digits of `value`, those that name the double uniquely, divided by 10^power. */
const shifted = (value: number, power: number): string => {
  const [mantissa = "0", exponent = "0"] = String(value).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  const point = whole.length + Number(exponent) - power
  const digits = whole + fraction
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits.padEnd(point, "0")
  const at = Math.max(point, 1)
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, "")
  const right = padded.slice(at).replace(/0+$/, "")
  return right === "" ? left : `${left}.${right}`
}

/** The accepted spelling a mistaken one most likely meant: the case apart, then a prefix, then one or two slips. */
const nearest = (unit: string, quantity: Quantity): string | undefined => {
  const wanted = unit.toLowerCase()
  const names = [...quantity.listed, ...quantity.units.keys()]
  const same = names.find((name) => name.toLowerCase() === wanted)
  if (same !== undefined) return same
  const longer = names.find((name) => name.toLowerCase().startsWith(wanted))
  if (longer !== undefined) return longer
  let best: string | undefined
  let bestDistance = Math.min(3, unit.length)
  for (const name of names) {
    const distance = wanted.startsWith(name.toLowerCase()) ? 1 : slips(wanted, name.toLowerCase())
    const better =
      distance < bestDistance || (distance === bestDistance && best !== undefined && name.length > best.length)
    if (!better) continue
    best = name
    bestDistance = distance
  }
  return best
}

/** Insertions, deletions, substitutions and swaps of neighbours between two words (optimal string alignment). */
const slips = (a: string, b: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? before[j - 2]! + 1 : changed
      next.push(Math.min(changed, swapped, row[j]! + 1, next[j - 1]! + 1))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
