/** Octets taken in one step. */
export const STEP = 16
/** From this many octets on, reading words pays for the array that sees the octets as words. */
export const WORDS_FROM = 320
/** Words are read in the order of the machine, and a reflected CRC wants the first octet lowest. */
export const LITTLE_ENDIAN = /* @__PURE__ */ (() => new Uint8Array(Uint32Array.of(1).buffer)[0] === 1)()

/**
 * Sixteen tables in a row for a reflected polynomial of at most 32 bits: the n-th is the CRC of an octet with n zero octets
 * after it, so that sixteen octets are one step.
 */
export const crcTables = (polynomial: number): Int32Array => {
  const tables = new Int32Array(256 * STEP)
  for (let octet = 0; octet < 256; octet++) {
    let crc = octet
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
    tables[octet] = crc
  }
  for (let at = 256; at < tables.length; at++) {
    const crc = tables[at - 256]!
    tables[at] = (crc >>> 8) ^ tables[crc & 255]!
  }
  return tables
}

/** Takes octets into the running state of a reflected CRC, whatever its polynomial. */
export const updateCrc = (
  tables: Int32Array,
  octets: Uint8Array,
  start: number,
  end: number,
  state: number,
): number => {
  let crc = state
  let at = start
  for (const last = end - STEP; at <= last; at += STEP) {
    crc =
      tables[3840 + (octets[at]! ^ (crc & 255))]! ^
      tables[3584 + (octets[at + 1]! ^ ((crc >>> 8) & 255))]! ^
      tables[3328 + (octets[at + 2]! ^ ((crc >>> 16) & 255))]! ^
      tables[3072 + (octets[at + 3]! ^ (crc >>> 24))]! ^
      tables[2816 + octets[at + 4]!]! ^
      tables[2560 + octets[at + 5]!]! ^
      tables[2304 + octets[at + 6]!]! ^
      tables[2048 + octets[at + 7]!]! ^
      tables[1792 + octets[at + 8]!]! ^
      tables[1536 + octets[at + 9]!]! ^
      tables[1280 + octets[at + 10]!]! ^
      tables[1024 + octets[at + 11]!]! ^
      tables[768 + octets[at + 12]!]! ^
      tables[512 + octets[at + 13]!]! ^
      tables[256 + octets[at + 14]!]! ^
      tables[octets[at + 15]!]!
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ tables[(crc ^ octets[at]!) & 255]!
  return crc
}

/** @throws RangeError when the octets from `start` to `end` are not all there */
export const checkThere = (octets: Uint8Array, start: number, end: number): void => {
  if (!ArrayBuffer.isView(octets)) throw new TypeError(`octets are ${typeof octets}, expected a Uint8Array`)
  if (!(Number.isInteger(start) && start >= 0 && end <= octets.length))
    throw new RangeError(`octets ${start} to ${end} of ${octets.length}`)
}
