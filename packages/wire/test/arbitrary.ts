import fc from "fast-check"

/** A whole number of so many bits. */
export const bits = (count: number): fc.Arbitrary<number> => fc.maxSafeNat().map((value) => value % 2 ** count)
export const u8 = bits(8)
export const u16 = bits(16)
export const u24 = bits(24)
export const u32 = bits(32)
export const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn })
export const mac = bits(48)
export const flag = fc.boolean()
export const octets = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length })
/** Multiples of `unit` from `min` to `max` octets. */
export const blocks = (unit: number, min: number, max: number): fc.Arbitrary<Uint8Array> =>
  fc.integer({ min: 0, max: (max - min) / unit }).chain((count) => octets(min + unit * count))
