import { put16le, space, u16le, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** PINT's digest in the place of the hops (PINT, SIGCOMM 2020, §5): the largest use of a link on the path, encoded. */
export interface Pint {
  /** 1 or 2 octets, low octet first. */
  readonly bytes: 1 | 2
  readonly digest: number
}

/** Reads a digest that takes all of what is given: `end` less `start` is 1 or 2. */
export const parsePint = (octets: Uint8Array, start = 0, end = octets.length): Parse<Pint> => {
  const bytes = end - start
  if (bytes !== 1 && bytes !== 2) return failed("length", "pint", "digest", start, bytes, "1 or 2 octets")
  const short = shortage("pint", octets, start, end, bytes)
  if (short !== undefined) return short
  const digest = bytes === 2 ? u16le(octets, start) : octets[start]!
  return parsed<Pint>({ bytes, digest }, end, end)
}

export const emitPint = ({ bytes, digest }: Pint, octets: Uint8Array, start = 0): number => {
  space(octets, start, bytes, "pint")
  uint(digest, 8 * bytes, "pint", "digest")
  if (bytes === 2) put16le(octets, start, digest)
  else octets[start] = digest
  return start + bytes
}
