import { crc16 } from "../Crc.ts"
import { put16le, u16le } from "../Octets.ts"
import type { CrcVerdict } from "./Icrc.ts"

/** The variant CRC after the ICRC of a native packet: it covers everything from the LRH, and each link makes it anew. */
export const VCRC_BYTES = 2

/** The variant CRC of the octets from the LRH to the end of the ICRC (IBTA 1.7 §7.8.2). */
export const vcrcOf = (octets: Uint8Array, start: number, end: number): number => crc16(octets, start, end)

/** As it is sent, lowest octet first. */
export const readVcrc: (octets: Uint8Array, at: number) => number = u16le

/** Writes it there. */
export const putVcrc: (octets: Uint8Array, at: number, value: number) => void = put16le

/** Checks the variant CRC at `at`, of a packet that starts at `start`. */
export const checkVcrc = (octets: Uint8Array, start: number, at: number): CrcVerdict => {
  if (at + VCRC_BYTES > octets.length) return "cut"
  return vcrcOf(octets, start, at) === readVcrc(octets, at) ? "right" : "wrong"
}
