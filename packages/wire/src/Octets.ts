/*
 * Octets to numbers and back: in network byte order, and little-endian where the name ends so. None checks its range:
 * callers have checked the length.
 */

export const u16 = (octets: Uint8Array, at: number): number => (octets[at]! << 8) | octets[at + 1]!

export const u24 = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 16) | (octets[at + 1]! << 8) | octets[at + 2]!

export const u32 = (octets: Uint8Array, at: number): number =>
  ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0

/** 48 bits, exact in a double. */
export const u48 = (octets: Uint8Array, at: number): number => u16(octets, at) * 0x1_0000_0000 + u32(octets, at + 2)

export const u64 = (octets: Uint8Array, at: number): bigint =>
  (BigInt(u32(octets, at)) << 32n) | BigInt(u32(octets, at + 4))

export const u16le = (octets: Uint8Array, at: number): number => octets[at]! | (octets[at + 1]! << 8)

export const u32le = (octets: Uint8Array, at: number): number =>
  (octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24)) >>> 0

export const u64le = (octets: Uint8Array, at: number): bigint =>
  (BigInt(u32le(octets, at + 4)) << 32n) | BigInt(u32le(octets, at))

export const put16 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 8
  octets[at + 1] = value
}

export const put24 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 16
  octets[at + 1] = value >>> 8
  octets[at + 2] = value
}

export const put32 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 24
  octets[at + 1] = value >>> 16
  octets[at + 2] = value >>> 8
  octets[at + 3] = value
}

export const put48 = (octets: Uint8Array, at: number, value: number): void => {
  put16(octets, at, Math.floor(value / 0x1_0000_0000))
  put32(octets, at + 2, value % 0x1_0000_0000)
}

export const put64 = (octets: Uint8Array, at: number, value: bigint): void => {
  put32(octets, at, Number(value >> 32n))
  put32(octets, at + 4, Number(value & 0xffff_ffffn))
}

export const put16le = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value
  octets[at + 1] = value >>> 8
}

export const put32le = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value
  octets[at + 1] = value >>> 8
  octets[at + 2] = value >>> 16
  octets[at + 3] = value >>> 24
}

export const put64le = (octets: Uint8Array, at: number, value: bigint): void => {
  put32le(octets, at, Number(value & 0xffff_ffffn))
  put32le(octets, at + 4, Number(value >> 32n))
}

/** What cannot be emitted: the caller's value is out of its range, or their buffer too small. Thrown by every `emit`. */
export class EmitError extends RangeError {
  override readonly name = "EmitError"
  /** The format and field, as in `WireError`. */
  readonly format: string
  readonly field: string
  readonly found: number | bigint
  readonly expected: string
  constructor(format: string, field: string, found: number | bigint, expected: string) {
    super(`${format}.${field}: found ${found}, expected ${expected}`)
    this.format = format
    this.field = field
    this.found = found
    this.expected = expected
  }
}

/** The value itself when it is a whole number of at most `bits` bits (53 at most). */
export const uint = (value: number, bits: number, format: string, field: string): number => {
  if (value >= 0 && value < 2 ** bits && Number.isInteger(value)) return value
  throw new EmitError(format, field, value, `a whole number of ${bits} bits`)
}

/** The value itself when it fits 64 bits. */
export const uint64 = (value: bigint, format: string, field: string): bigint => {
  if (value >= 0n && value <= 0xffff_ffff_ffff_ffffn) return value
  throw new EmitError(format, field, value, "a whole number of 64 bits")
}

/** Makes sure that `bytes` octets fit at `start` in the caller's buffer. */
export const space = (octets: Uint8Array, start: number, bytes: number, format: string): void => {
  if (!(Number.isInteger(start) && start >= 0))
    throw new EmitError(format, "start", start, "a whole number of at least 0")
  if (start + bytes > octets.length)
    throw new EmitError(format, "buffer", octets.length - start, `room for ${bytes} octets`)
}

/** Copies an address or another field of a fixed number of octets. */
export const putOctets = (
  octets: Uint8Array,
  at: number,
  value: Uint8Array,
  bytes: number,
  format: string,
  field: string,
): void => {
  if (value.length !== bytes) throw new EmitError(format, field, value.length, `${bytes} octets`)
  octets.set(value, at)
}
