import { type BitOrder, type Layout, layout } from "./Layout.ts"
import { put64le, u64le } from "./Octets.ts"

const littleOrder: BitOrder = {
  reader: (bit, bits) => {
    const at = bit >> 3
    const skip = bit & 7
    if (bits === 1) return (octets, start) => ((octets[start + at]! >> skip) & 1) === 1
    if (bits === 64 && skip === 0) return (octets, start) => u64le(octets, start + at)
    const size = (skip + bits + 7) >> 3
    const scale = 2 ** skip
    const modulus = 2 ** bits
    return (octets, start) => {
      let value = 0
      for (let index = size - 1; index >= 0; index--) value = value * 256 + octets[start + at + index]!
      return Math.floor(value / scale) % modulus
    }
  },
  put: (octets, start, bit, _, value) => {
    let rest = value * 2 ** (bit & 7)
    for (let at = start + (bit >> 3); rest > 0; at++) {
      octets[at]! |= rest % 256
      rest = Math.floor(rest / 256)
    }
  },
  put64: put64le,
}

/**
 * A layout in the order of little-endian memory, as devices and hosts share it: fields in order, least significant bit
 * first.
 */
export const littleLayout = <const T extends string>(format: string, text: T): Layout<T> =>
  layout(format, text, littleOrder)
