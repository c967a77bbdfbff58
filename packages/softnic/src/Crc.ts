import type { Crc } from "@rdmakit/wire/crc"
import { crc32 } from "@rdmakit/wire/simd"

/** Below so many octets no view is asked for. */
const VIEW_FROM = 320

/**
 * CRC-32 by vectors for one codec. Packets of a stream lie where the one before lay, and are as long: the view of them that
 * is copied from is kept, and no other made.
 */
export const makeCrc = (): Crc => {
  let array: Uint8Array = new Uint8Array(0)
  let view = array
  let from = 0
  let to = 0
  return (octets, start = 0, end = octets.length, previous = 0) => {
    if (end - start < VIEW_FROM || (start === 0 && end === octets.length)) return crc32(octets, start, end, previous)
    if (octets !== array || start !== from || end !== to) {
      array = octets
      from = start
      to = end
      view = octets.subarray(start, end)
    }
    return crc32(view, 0, end - start, previous)
  }
}
