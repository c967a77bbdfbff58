/** Castagnoli's polynomial (RFC 3720 §12.1), reflected. */
const POLYNOMIAL = 0x82f63b78
const SLICES = 8

/** Eight tables of 256: what an octet so many places before the end contributes. */
const makeTables = (): Uint32Array => {
  const tables = new Uint32Array(SLICES * 256)
  for (let octet = 0; octet < 256; octet++) {
    let crc = octet
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0)
    tables[octet] = crc
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256]!
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!
  }
  return tables
}

let tables: Uint32Array | undefined

/**
 * CRC32c of a run of octets. `before` is that of the octets in front of them, 0 when there are none, so that a message
 * may be summed in parts. MPA sends it low octet first (RFC 5044 §4.4).
 */
export const crc32c = (octets: Uint8Array, start = 0, end = octets.length, before = 0): number => {
  tables ??= makeTables()
  const t = tables
  let crc = ~before
  let at = start
  for (; at + 8 <= end; at += 8) {
    crc ^= octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24)
    crc =
      t[1792 + (crc & 0xff)]! ^
      t[1536 + ((crc >>> 8) & 0xff)]! ^
      t[1280 + ((crc >>> 16) & 0xff)]! ^
      t[1024 + (crc >>> 24)]! ^
      t[768 + octets[at + 4]!]! ^
      t[512 + octets[at + 5]!]! ^
      t[256 + octets[at + 6]!]! ^
      t[octets[at + 7]!]!
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ t[(crc ^ octets[at]!) & 0xff]!
  return ~crc >>> 0
}
