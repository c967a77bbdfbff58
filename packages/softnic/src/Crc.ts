import { crc32 as zlibCrc32 } from "node:zlib"
import { type Crc, crc32 as plainCrc32 } from "@rdmakit/wire/crc"

/** Below so many octets JavaScript is quicker, as in `@rdmakit/wire/node`. */
const ZLIB_FROM = 448

/**
 * CRC-32 by zlib for one codec. Packets of a stream lie where the one before lay, and are as long: the view of them that
 * zlib takes is kept, and no other made.
 */
export const makeCrc = (): Crc => {
  let array: Uint8Array = new Uint8Array(0)
  let view = array
  let from = 0
  let to = 0
  return (octets, start = 0, end = octets.length, previous = 0) => {
    if (end - start < ZLIB_FROM) return plainCrc32(octets, start, end, previous)
    if (start === 0 && end === octets.length) return zlibCrc32(octets, previous)
    if (octets !== array || start !== from || end !== to) {
      array = octets
      from = start
      to = end
      view = octets.subarray(start, end)
    }
    return zlibCrc32(view, previous)
  }
}
