import { crc32c } from "../Crc.ts"
import { layout } from "../Layout.ts"
import { put16, put32le, space, u16, u32le, uint } from "../Octets.ts"
import { failed, type Parse, parsed, shortage } from "../Result.ts"

/** The header of a framed protocol data unit (RFC 5044 §4); padding and a CRC follow its payload. */
export interface Fpdu {
  /** Octets of the DDP segment, 0 to 65,535. */
  readonly ulpduBytes: number
}

export const FPDU_BYTES = 2
/** The field is there even when no CRC is used, and then 0. */
export const FPDU_CRC_BYTES = 4

export const FPDU = /* @__PURE__ */ layout("fpdu", "ulpduBytes:16")

/** Octets of the whole unit without markers: header, payload, padding to a multiple of four, CRC. */
export const fpduBytes = (ulpduBytes: number): number => ((FPDU_BYTES + ulpduBytes + 3) & ~3) + FPDU_CRC_BYTES

/** Reads a unit without markers. Fails when the unit with its CRC reaches past `end`. */
export const parseFpdu = (octets: Uint8Array, start = 0, end = octets.length): Parse<Fpdu> => {
  const short = shortage("fpdu", octets, start, end, FPDU_BYTES)
  if (short !== undefined) return short
  const ulpduBytes = u16(octets, start)
  const room = end - start
  if (fpduBytes(ulpduBytes) > room)
    return failed("length", "fpdu", "ulpduBytes", start, ulpduBytes, `a unit of at most ${room} octets`)
  return parsed({ ulpduBytes }, start + FPDU_BYTES, start + FPDU_BYTES + ulpduBytes)
}

export const emitFpdu = (value: Fpdu, octets: Uint8Array, start = 0): number => {
  space(octets, start, FPDU_BYTES, "fpdu")
  put16(octets, start, uint(value.ulpduBytes, 16, "fpdu", "ulpduBytes"))
  return start + FPDU_BYTES
}

/**
 * Pads the unit that starts at `start`, whose header and payload are written, and adds its CRC, or 0 when the
 * connection uses none. Answers where the unit ends.
 */
export const sealFpdu = (octets: Uint8Array, start: number, hasCrc: boolean): number => {
  const ulpduBytes = u16(octets, start)
  space(octets, start, fpduBytes(ulpduBytes), "fpdu")
  const crcAt = start + fpduBytes(ulpduBytes) - FPDU_CRC_BYTES
  octets.fill(0, start + FPDU_BYTES + ulpduBytes, crcAt)
  // CRCs of MPA stand low octet first.
  put32le(octets, crcAt, hasCrc ? crc32c(octets, start, crcAt) : 0)
  return crcAt + FPDU_CRC_BYTES
}

/** `absent`: the field is 0, as it is where no CRC is used. */
export type CrcVerdict = "right" | "wrong" | "absent"

/** What the CRC of a unit says that lies whole from `start` on, markers or none, its CRC at `at`. */
export const crcVerdict = (octets: Uint8Array, start: number, at: number): CrcVerdict => {
  const found = u32le(octets, at)
  // A right CRC may be 0, by chance; one that is absent can hardly be right.
  if (found === crc32c(octets, start, at)) return "right"
  return found === 0 ? "absent" : "wrong"
}
