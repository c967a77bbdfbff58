/*
 * The simulator knows of a payload nothing but its length. The octets that stand for it are a ramp that each packet starts
 * at its own place, so that a packet, a gap and a shift can be told by eye.
 */

const RAMP = 256

/** Octet `index` of the payload of a packet: the sum of its PSN and the index, modulo 256. */
export const payloadOctet = (psn: number, index: number): number => (psn + index) & 0xff

let ramp = new Uint8Array(0)

/** The payload of a packet. Not to be written to: it is shared, and holds until the next call. */
export const payloadOf = (psn: number, bytes: number): Uint8Array => {
  const start = psn & (RAMP - 1)
  if (ramp.length < start + bytes)
    ramp = Uint8Array.from({ length: RAMP + bytes }, (_, index) => payloadOctet(0, index))
  return ramp.subarray(start, start + bytes)
}
