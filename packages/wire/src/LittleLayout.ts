import { type Field, type FieldsOf, type FieldValue, type Layout, layout } from "./Layout.ts"
import { put32, putOctets, u32, uint, uint64 } from "./Octets.ts"

const swapped = (word: number): number =>
  ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24)) >>> 0

export const u32le = (octets: Uint8Array, at: number): number => swapped(u32(octets, at))

export const put32le = (octets: Uint8Array, at: number, value: number): void => put32(octets, at, swapped(value))

export const u64le = (octets: Uint8Array, at: number): bigint =>
  (BigInt(u32le(octets, at + 4)) << 32n) | BigInt(u32le(octets, at))

export const put64le = (octets: Uint8Array, at: number, value: bigint): void => {
  put32le(octets, at, Number(value & 0xffff_ffffn))
  put32le(octets, at + 4, Number(value >> 32n))
}

const littleReader = (bit: number, bits: number, opaque: boolean): Field["read"] => {
  const at = bit >> 3
  const skip = bit & 7
  if (opaque) return (octets, start) => octets.subarray(start + at, start + at + bits / 8)
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
}

/**
 * A layout in the order of little-endian memory, as devices and hosts share it: fields in order, least significant bit
 * first. Up to 48 bits a field, besides 64.
 */
export const littleLayout = <const T extends string>(format: string, text: T): Layout<T> =>
  layout(format, text, littleReader)

/** Writes all fields, reserved ones as 0. Throws an `EmitError` for one out of its range. */
export const writeLittleFields = <T extends string>(
  { format, bytes, fields }: Layout<T>,
  value: FieldsOf<T>,
  octets: Uint8Array,
  start: number,
): void => {
  octets.fill(0, start, start + bytes)
  for (const { name, bit, bits } of fields) {
    if (name === "reserved") continue
    const said = (value as Readonly<Record<string, FieldValue>>)[name]!
    let at = start + (bit >> 3)
    if (said instanceof Uint8Array) putOctets(octets, at, said, bits / 8, format, name)
    else if (typeof said === "bigint") put64le(octets, at, uint64(said, format, name))
    else {
      let rest = uint(Number(said), bits, format, name) * 2 ** (bit & 7)
      for (; rest > 0; at++) {
        octets[at]! |= rest % 256
        rest = Math.floor(rest / 256)
      }
    }
  }
}
