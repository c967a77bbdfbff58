/**
 * The Internet checksum (RFC 1071): 16-bit words added with end-around carry. Sums are kept unfolded, so that parts of a
 * packet can be added one after the other; each part but the last has to be of an even number of octets.
 */
export const addWords = (sum: number, octets: Uint8Array, start: number, end: number): number => {
  let total = sum
  const even = end - ((end - start) & 1)
  for (let at = start; at < even; at += 2) total += (octets[at]! << 8) | octets[at + 1]!
  return even < end ? total + (octets[even]! << 8) : total
}

/** The checksum of a sum: folded to 16 bits and complemented. */
export const foldWords = (sum: number): number => {
  let folded = sum
  while (folded > 0xffff) folded = (folded % 0x1_0000) + Math.floor(folded / 0x1_0000)
  return folded ^ 0xffff
}

/** The pseudo-header of UDP, TCP and ICMPv6: the addresses as octets (4 or 16 each), the protocol, the length. */
export const pseudoHeader = (
  octets: Uint8Array,
  addresses: number,
  addressBytes: number,
  protocol: number,
  length: number,
): number =>
  addWords(
    protocol + Math.floor(length / 0x1_0000) + (length % 0x1_0000),
    octets,
    addresses,
    addresses + 2 * addressBytes,
  )

/** The checksum of a UDP datagram whose field is cleared: a sum of 0 is sent as 0xffff, since 0 means none (RFC 768). */
export const udpChecksum = (sum: number): number => foldWords(sum) || 0xffff
