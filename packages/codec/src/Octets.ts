/*
 * Numbers in network byte order. None checks its range: callers have checked the length.
 */

export const u16 = (octets: Uint8Array, at: number): number => (octets[at]! << 8) | octets[at + 1]!
/** 32 bits with sign, as the extension record has them. */
export const i32 = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!
export const put16 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 8
  octets[at + 1] = value
}
export const put32 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 24
  octets[at + 1] = value >>> 16
  octets[at + 2] = value >>> 8
  octets[at + 3] = value
}
