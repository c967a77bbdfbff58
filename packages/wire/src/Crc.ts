import type { Crc } from "./crc/Crc32.ts"
import { checkThere, crcTables, updateCrc } from "./crc/Tables.ts"

const castagnoli = /* @__PURE__ */ crcTables(0x82f6_3b78)
const variant = /* @__PURE__ */ crcTables(0xd008)

/** CRC-32C, Castagnoli's polynomial 0x1edc6f41 reflected, all ones before and after: MPA's (RFC 5044 §4.2). */
export const crc32c: Crc = (octets, start = 0, end = octets.length, previous = 0) => {
  checkThere(octets, start, end)
  return ~updateCrc(castagnoli, octets, start, end, ~previous) >>> 0
}

/** CRC-16 of polynomial 0x100b reflected, all ones before and after: InfiniBand's VCRC (IBTA 1.7 §7.8.2). */
export const crc16: Crc = (octets, start = 0, end = octets.length, previous = 0) => {
  checkThere(octets, start, end)
  return ~updateCrc(variant, octets, start, end, ~previous & 0xffff) & 0xffff
}

export { type Crc, crc32 } from "./crc/Crc32.ts"
