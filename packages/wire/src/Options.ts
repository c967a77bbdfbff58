import { failed, type Result } from "./Result.ts"

/** One option of IPv4 or TCP: a code, and what follows its length. Codes 0 (end) and 1 (padding) have no length. */
export interface Option {
  readonly code: number
  readonly data: Uint8Array
}

const NONE = new Uint8Array(0)

/** Options of IPv4 and TCP share their syntax (RFC 791 §3.1, RFC 9293 §3.1): what follows code 0 is padding. */
export const parseOptions = (format: string, octets: Uint8Array): Result<ReadonlyArray<Option>> => {
  const options: Array<Option> = []
  let at = 0
  while (at < octets.length) {
    const code = octets[at]!
    if (code === 0) break
    if (code === 1) {
      options.push({ code, data: NONE })
      at += 1
      continue
    }
    const length = octets[at + 1]
    if (length === undefined) return failed("truncated", format, "options", octets.length)
    if (length < 2 || at + length > octets.length)
      return failed("length", format, "options", at + 1, length, `2 to ${octets.length - at}`)
    options.push({ code, data: octets.subarray(at + 2, at + length) })
    at += length
  }
  return { ok: true, value: options }
}
