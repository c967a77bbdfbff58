/** Big-endian reads; what is not there reads as 0, so callers check first where it matters. */
export const u16 = (octets: Uint8Array, at: number): number => (octets[at]! << 8) | octets[at + 1]!
export const u24 = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 16) | (octets[at + 1]! << 8) | octets[at + 2]!
export const u32 = (octets: Uint8Array, at: number): number =>
  ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0
