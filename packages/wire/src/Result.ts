/** What is wrong with octets that do not parse, or that parse with a fault. */
export type What =
  /** The captured octets end inside the header. `offset` is where they end. */
  | "truncated"
  /** A length that contradicts itself or the room there is. */
  | "length"
  /** A code point that the standard reserves, or a version this is not. */
  | "reserved"
  /** A value that the standard forbids. */
  | "value"
  /** A checksum that is not the one of the octets. */
  | "checksum"
  /** Legal, and none of the cases that the module reads. */
  | "unsupported"
  /** Bits a sender has to clear and a receiver ignores are set. Only ever a fault. */
  | "ignored"

/** What is wrong, and where: `offset` counts octets from the start of the array, not of the header. */
export interface WireError {
  readonly what: What
  /** The format whose rule is broken: `bth`, `ipv4`. */
  readonly format: string
  readonly field: string
  readonly offset: number
  readonly found?: number | bigint
  readonly expected?: string
}

export interface Failed {
  readonly ok: false
  readonly error: WireError
}

export type Result<A> = { readonly ok: true; readonly value: A } | Failed

/** A header that was read. */
export interface Parsed<A> {
  readonly ok: true
  readonly value: A
  /**
   * What is wrong without keeping the header from being read: a header checksum, bits that a receiver ignores.
   * `value` says none of it, so that emitting `value` gives the same octets exactly when there are no faults.
   */
  readonly faults: ReadonlyArray<WireError>
  /** The first octet after the header. */
  readonly payloadStart: number
  /** The first octet after the payload, as the header's own length has it. Past `octets.length` when a capture is cut. */
  readonly payloadEnd: number
}

export type Parse<A> = Parsed<A> | Failed

/** Nothing wrong. */
export const NO_FAULTS: ReadonlyArray<WireError> = []

export const parsed = <A>(
  value: A,
  payloadStart: number,
  payloadEnd: number,
  faults: ReadonlyArray<WireError> = NO_FAULTS,
): Parsed<A> => ({ ok: true, value, faults, payloadStart, payloadEnd })

export const wrong = (
  what: What,
  format: string,
  field: string,
  offset: number,
  found?: number | bigint,
  expected?: string,
): WireError => ({
  what,
  format,
  field,
  offset,
  ...(found === undefined ? {} : { found }),
  ...(expected === undefined ? {} : { expected }),
})

export const failed = (
  what: What,
  format: string,
  field: string,
  offset: number,
  found?: number | bigint,
  expected?: string,
): Failed => ({ ok: false, error: wrong(what, format, field, offset, found, expected) })

/** One line for people: `bth.transportVersion at octet 43: found 1, expected 0 (reserved)`. */
export const formatError = (error: WireError): string => {
  const found = error.found === undefined ? "" : `: found ${error.found}`
  const expected = error.expected === undefined ? "" : `${found === "" ? ":" : ","} expected ${error.expected}`
  return `${error.format}.${error.field} at octet ${error.offset}${found}${expected} (${error.what})`
}

/**
 * Checks that a header of `bytes` octets is there. `end` is where it has to end on the wire and may lie past the captured
 * octets: that is "truncated"; a header that does not even fit below `end` is a wrong "length".
 *
 * @throws RangeError when `start` is no position: that is no fault of the octets
 */
export const shortage = (
  format: string,
  octets: Uint8Array,
  start: number,
  end: number,
  bytes: number,
): Failed | undefined => {
  if (!(Number.isInteger(start) && start >= 0)) throw new RangeError(`${format}: start is ${start}, expected 0 or more`)
  if (start + bytes <= octets.length && start + bytes <= end) return undefined
  return start + bytes > end
    ? failed("length", format, "header", start, end - start, `${bytes} octets at least`)
    : failed("truncated", format, "header", octets.length, octets.length - start, `${bytes} octets at least`)
}

/**
 * A fault for each octet from `start` on in which a descriptor differs from `again`, what its representation emits: rings
 * keep what was there before, and what the representation does not say has to be 0.
 */
export const leftoverFaults = (
  format: string,
  octets: Uint8Array,
  start: number,
  again: Uint8Array,
): ReadonlyArray<WireError> => {
  const faults: Array<WireError> = []
  for (let at = 0; at < again.length; at++) {
    const found = octets[start + at]! ^ again[at]!
    if (found !== 0) faults.push(wrong("ignored", format, "reserved", start + at, found, "0"))
  }
  return faults
}
