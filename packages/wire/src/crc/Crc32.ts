import { checkThere, crcTables, LITTLE_ENDIAN, STEP, WORDS_FROM } from "./Tables.ts"

// A constant of this module, and the loops of `updateCrc` once more: the compiler then knows the table's length and leaves
// out every check of an index, for half as much speed again.
const T = /* @__PURE__ */ crcTables(0xedb8_8320)

/** A CRC that continues another: `previous` is 0 or what the call before gave. A RangeError for octets that are not there. */
export type Crc = (octets: Uint8Array, start?: number, end?: number, previous?: number) => number

/**
 * CRC-32 of IEEE 802.3, as Ethernet, InfiniBand's ICRC and zlib have it: polynomial 0x04c11db7 reflected, all ones before
 * and after. Plain JavaScript, in steps of sixteen octets.
 */
export const crc32: Crc = (octets, start = 0, end = octets.length, previous = 0) => {
  checkThere(octets, start, end)
  if (end - start < WORDS_FROM || !LITTLE_ENDIAN) return ~ofOctets(octets, start, end, ~previous) >>> 0
  const first = start + (-(octets.byteOffset + start) & 3)
  const count = ((end - first) >>> 4) << 2
  const state = ofOctets(octets, start, first, ~previous)
  const words = ofWords(new Int32Array(octets.buffer, octets.byteOffset + first, count), state)
  return ~ofOctets(octets, first + 4 * count, end, words) >>> 0
}

const ofWords = (words: Int32Array, state: number): number => {
  let crc = state
  for (let at = 0; at < words.length; at += 4) {
    const a = words[at]! ^ crc
    const b = words[at + 1]!
    const c = words[at + 2]!
    const d = words[at + 3]!
    crc =
      T[3840 + (a & 255)]! ^
      T[3584 + ((a >>> 8) & 255)]! ^
      T[3328 + ((a >>> 16) & 255)]! ^
      T[3072 + (a >>> 24)]! ^
      T[2816 + (b & 255)]! ^
      T[2560 + ((b >>> 8) & 255)]! ^
      T[2304 + ((b >>> 16) & 255)]! ^
      T[2048 + (b >>> 24)]! ^
      T[1792 + (c & 255)]! ^
      T[1536 + ((c >>> 8) & 255)]! ^
      T[1280 + ((c >>> 16) & 255)]! ^
      T[1024 + (c >>> 24)]! ^
      T[768 + (d & 255)]! ^
      T[512 + ((d >>> 8) & 255)]! ^
      T[256 + ((d >>> 16) & 255)]! ^
      T[d >>> 24]!
  }
  return crc
}

const ofOctets = (octets: Uint8Array, start: number, end: number, state: number): number => {
  let crc = state
  let at = start
  for (const last = end - STEP; at <= last; at += STEP) {
    crc =
      T[3840 + (octets[at]! ^ (crc & 255))]! ^
      T[3584 + (octets[at + 1]! ^ ((crc >>> 8) & 255))]! ^
      T[3328 + (octets[at + 2]! ^ ((crc >>> 16) & 255))]! ^
      T[3072 + (octets[at + 3]! ^ (crc >>> 24))]! ^
      T[2816 + octets[at + 4]!]! ^
      T[2560 + octets[at + 5]!]! ^
      T[2304 + octets[at + 6]!]! ^
      T[2048 + octets[at + 7]!]! ^
      T[1792 + octets[at + 8]!]! ^
      T[1536 + octets[at + 9]!]! ^
      T[1280 + octets[at + 10]!]! ^
      T[1024 + octets[at + 11]!]! ^
      T[768 + octets[at + 12]!]! ^
      T[512 + octets[at + 13]!]! ^
      T[256 + octets[at + 14]!]! ^
      T[octets[at + 15]!]!
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ T[(crc ^ octets[at]!) & 255]!
  return crc
}
