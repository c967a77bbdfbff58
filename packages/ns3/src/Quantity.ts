import { parseRate, parseTime } from "@rdmakit/units"
import type { Tokens } from "./Tokens.ts"

/**
 * The current word as an ns-3 DataRate in bits/s: "100Gbps", "50Mb/s"; plain digits are bits/s, as ns-3 reads them.
 */
export const rateOf = (tokens: Tokens, field: string): number => {
  const expected = 'a rate such as "100Gbps" or "50Mb/s"'
  if (tokens.isDigits()) return tokens.wholeNumber(field, 0, Number.MAX_SAFE_INTEGER)
  const rateBps = quantity(tokens, field, expected, parseRate)
  if (!Number.isSafeInteger(rateBps) || rateBps < 0) throw tokens.fault(field, `${expected}, in whole bits/s`)
  return rateBps
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

const quantity = (tokens: Tokens, field: string, expected: string, parse: (text: string) => number): number => {
  const text = tokens.text()
  try {
    return parse(text)
  } catch (error) {
    throw tokens.fault(field, expected, error instanceof Error ? error.message : undefined)
  }
}
