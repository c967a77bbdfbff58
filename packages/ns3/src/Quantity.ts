import { parseRate, parseTime } from "@rdmakit/units"
import type { Tokens } from "./Tokens.ts"

/**
 * The current word as an ns-3 DataRate in bits/s: "100Gbps", "50Mb/s"; plain digits are bits/s, as ns-3 reads them. A
 * fraction is what its double makes of it (DataRate::DoParse): "4.1Gbps" is 4,099,999,999.
 */
export const rateOf = (tokens: Tokens, field: string): number => {
  const expected = 'a rate such as "100Gbps" or "50Mb/s"'
  if (tokens.isDigits()) return tokens.wholeNumber(field, 0, Number.MAX_SAFE_INTEGER)
  const rateBps = quantity(tokens, field, expected, parseRate)
  if (!Number.isSafeInteger(rateBps) || rateBps < 0) throw tokens.fault(field, `${expected}, in whole bits/s`)
  const [, number, prefix, suffix] = /^([\d.]+)([kKMG]i?)?(bps|b\/s|Bps|B\/s)$/.exec(tokens.text()) ?? []
  if (number === undefined || suffix === undefined) return rateBps
  return Math.trunc(Number(number) * rateFactors[prefix ?? ""]! * (suffix.startsWith("B") ? 8 : 1))
}

const rateFactors: Readonly<Record<string, number>> = {
  ...{ "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9 },
  ...{ ki: 2 ** 10, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 },
}

/**
 * The current word as an ns-3 Time in picoseconds: "1000ns", "0.001ms". A number without a unit would be seconds to
 * ns-3, which no one means: only 0 may stand alone.
 */
export const timeOf = (tokens: Tokens, field: string): number => {
  const expected = 'a time such as "1000ns" or "0.001ms"'
  if (tokens.plainDecimals() !== undefined) {
    if (tokens.mantissa() === 0) return 0
    throw tokens.fault(field, expected, `without a unit ns-3 reads seconds; write "${tokens.text()}ns"`)
  }
  const timePs = quantity(tokens, field, expected, parseTime)
  if (!Number.isSafeInteger(timePs) || timePs < 0) throw tokens.fault(field, `${expected}, of at least 0`)
  return timePs
}

const timeFactors: Readonly<Record<string, number>> = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 }

/**
 * A time as ns-3's clock keeps it, whole nanoseconds: the double it is read as, to 64 binary places, times the unit, and
 * rounded down (Time::FromDouble). "0.3us" is 299.
 *
 * @param timePs what the text says
 */
export const ns3TimeNs = (text: string, timePs: number): number => {
  const [, number, unit] = /^\+?([\d.]+)(s|ms|us|ns)$/.exec(text) ?? []
  if (number === undefined || unit === undefined) return Math.floor(timePs / 1000)
  const value = Number(number)
  const factor = timeFactors[unit]!
  const whole = Math.floor(value)
  const fraction = BigInt(Math.floor((value - whole) * 2 ** 64))
  return whole * factor + Number((fraction * BigInt(factor)) >> 64n)
}

const quantity = (tokens: Tokens, field: string, expected: string, parse: (text: string) => number): number => {
  const text = tokens.text()
  try {
    return parse(text)
  } catch (error) {
    throw tokens.fault(field, expected, error instanceof Error ? error.message : undefined)
  }
}
