import { put64, putOctets, u16, u32, u64, uint, uint64 } from "./Octets.ts"
import { NO_FAULTS, type Result, shortage, type WireError, wrong } from "./Result.ts"

/**
 * A header as the standards draw it: fields in order, most significant bit first, each `name:bits`, or `name:octetsB`
 * for addresses and other opaque octets. `_` is a reserved field. From this text come the checked view over octets and
 * the table of fields with their offsets.
 */
type Fields<T extends string, Done extends string = never> = T extends `${infer Head} ${infer Rest}`
  ? Fields<Rest, Done | Head>
  : Done | T

type NameOf<F extends string> = F extends `_:${string}` ? never : F extends `${infer Name}:${string}` ? Name : never

/** One bit is a boolean, 64 bits are a bigint, octets a subarray without a copy; everything else is a number. */
type ValueOf<F extends string> = F extends `${string}:1`
  ? boolean
  : F extends `${string}:64`
    ? bigint
    : F extends `${string}B`
      ? Uint8Array
      : number

/** The fields of a layout, without the reserved ones. */
export type FieldsOf<T extends string> = { readonly [F in Fields<T> as NameOf<F>]: ValueOf<F> }

/** A header seen in place: each property reads the octets when it is asked, and says them as they are, legal or not. */
export type View<T extends string> = FieldsOf<T> & { readonly octets: Uint8Array; readonly start: number }

export type FieldValue = boolean | number | bigint | Uint8Array

export interface Field {
  /** `reserved` for a reserved one. */
  readonly name: string
  /** Bits before it in the header. */
  readonly bit: number
  readonly bits: number
  /** Reads it from a header that starts at `start`; the header has to be there. */
  readonly read: (octets: Uint8Array, start: number) => FieldValue
}

/** How the numbers of a header lie in its octets: up to 48 bits a field, or 64 in whole octets. */
export interface BitOrder {
  /** Reads the field of so many bits that has `bit` bits before it in the header. */
  readonly reader: (bit: number, bits: number) => Field["read"]
  /** Writes a number that is in its range into octets that are 0. */
  readonly put: (octets: Uint8Array, start: number, bit: number, bits: number, value: number) => void
  readonly put64: (octets: Uint8Array, at: number, value: bigint) => void
}

export interface Layout<T extends string = string> {
  readonly format: string
  readonly order: BitOrder
  /** Octets of the fixed part. */
  readonly bytes: number
  readonly fields: ReadonlyArray<Field>
  /** Checks once that the header is there, and copies nothing. */
  readonly view: (octets: Uint8Array, start?: number, end?: number) => Result<View<T>>
}

const reader = (bit: number, bits: number): Field["read"] => {
  const at = bit >> 3
  const skip = bit & 7
  if (bits === 1) return (octets, start) => ((octets[start + at]! >> (7 - skip)) & 1) === 1
  if (bits === 64 && skip === 0) return (octets, start) => u64(octets, start + at)
  if (bits === 32 && skip === 0) return (octets, start) => u32(octets, start + at)
  if (bits === 16 && skip === 0) return (octets, start) => u16(octets, start + at)
  const size = (skip + bits + 7) >> 3
  const scale = 2 ** (8 * size - skip - bits)
  const modulus = 2 ** bits
  return (octets, start) => {
    let value = 0
    for (let index = 0; index < size; index++) value = value * 256 + octets[start + at + index]!
    return Math.floor(value / scale) % modulus
  }
}

/** As the standards draw it: most significant bit first. */
const networkOrder: BitOrder = {
  reader,
  put: (octets, start, bit, bits, value) => {
    const at = start + (bit >> 3)
    const size = ((bit & 7) + bits + 7) >> 3
    let rest = value * 2 ** (8 * size - (bit & 7) - bits)
    for (let index = size - 1; index >= 0; index--) {
      octets[at + index]! |= rest % 256
      rest = Math.floor(rest / 256)
    }
  },
  put64,
}

/** Octets without a copy. */
const opaqueReader = (bit: number, bits: number): Field["read"] => {
  const at = bit / 8
  const bytes = bits / 8
  return (octets, start) => octets.subarray(start + at, start + at + bytes)
}

/**
 * The layout that a text describes. Texts are constants of this package: one that is malformed is an error of its own.
 * `order` is given for headers in another bit order.
 */
export const layout = <const T extends string>(format: string, text: T, order = networkOrder): Layout<T> => {
  let bit = 0
  const fields = text.split(" ").map((part): Field => {
    const [name, width] = part.split(":") as [string, string]
    const opaque = width.endsWith("B")
    const bits = Number.parseInt(width, 10) * (opaque ? 8 : 1)
    const read = opaque ? opaqueReader(bit, bits) : order.reader(bit, bits)
    const field = { name: name === "_" ? "reserved" : name, bit, bits, read }
    bit += bits
    return field
  })
  const bytes = bit / 8
  class HeaderView {
    readonly octets: Uint8Array
    readonly start: number
    constructor(octets: Uint8Array, start: number) {
      this.octets = octets
      this.start = start
    }
  }
  for (const { name, read } of fields) {
    if (name === "reserved") continue
    Object.defineProperty(HeaderView.prototype, name, {
      enumerable: true,
      get(this: HeaderView) {
        return read(this.octets, this.start)
      },
    })
  }
  return {
    format,
    order,
    bytes,
    fields,
    view: (octets, start = 0, end = octets.length) =>
      shortage(format, octets, start, end, bytes) ?? {
        ok: true,
        value: new HeaderView(octets, start) as unknown as View<T>,
      },
  }
}

/** Octets up to this many are copied out of a header, as addresses are; longer ones are subarrays. */
const COPIED_BYTES_MAX = 16

/** All fields of a header that is there, for formats whose fields are many and rarely read. */
export const readFields = <T extends string>(layout: Layout<T>, octets: Uint8Array, start: number): FieldsOf<T> => {
  const value: Record<string, FieldValue> = {}
  for (const { name, read } of layout.fields) {
    if (name === "reserved") continue
    const found = read(octets, start)
    value[name] = found instanceof Uint8Array && found.length <= COPIED_BYTES_MAX ? found.slice() : found
  }
  return value as FieldsOf<T>
}

/** Writes all fields, reserved ones as 0. Throws an `EmitError` for one out of its range. */
export const writeFields = <T extends string>(
  { format, order, bytes, fields }: Layout<T>,
  value: FieldsOf<T>,
  octets: Uint8Array,
  start: number,
): void => {
  octets.fill(0, start, start + bytes)
  for (const { name, bit, bits } of fields) {
    if (name === "reserved") continue
    const said = (value as Readonly<Record<string, FieldValue>>)[name]!
    const at = start + (bit >> 3)
    if (said instanceof Uint8Array) putOctets(octets, at, said, bits / 8, format, name)
    else if (typeof said === "bigint") order.put64(octets, at, uint64(said, format, name))
    else order.put(octets, start, bit, bits, uint(Number(said), bits, format, name))
  }
}

/** A fault for each reserved field that is not 0. */
export const reservedFaults = (layout: Layout, octets: Uint8Array, start: number): ReadonlyArray<WireError> => {
  let faults: Array<WireError> | undefined
  for (const { name, bit, read } of layout.fields) {
    const found = name === "reserved" ? Number(read(octets, start)) : 0
    if (found === 0) continue
    faults ??= []
    faults.push(wrong("ignored", layout.format, name, start + (bit >> 3), found, "0"))
  }
  return faults ?? NO_FAULTS
}
