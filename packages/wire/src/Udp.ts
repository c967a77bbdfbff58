import { layout } from "./Layout.ts"
import { put16, space, u16, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** UDP (RFC 768). */
export interface Udp {
  /** 0 to 65,535. In RoCEv2 it carries nothing but entropy for load balancing. */
  readonly sourcePort: number
  readonly destinationPort: number
  /** Octets after the header, 0 to 65,527. */
  readonly payloadBytes: number
  /** As it is on the wire; 0 is none. It covers the payload, so `udpChecksum` or a builder computes it. */
  readonly checksum: number
}

export const UDP_BYTES = 8
/** RoCEv2 (IBTA 1.7 §A17.3.1). */
export const ROCE_PORT = 4791

export const UDP = /* @__PURE__ */ layout("udp", "sourcePort:16 destinationPort:16 length:16 checksum:16")

/** Fails when the length is below 8 or past `end`. */
export const parseUdp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Udp> => {
  const short = shortage("udp", octets, start, end, UDP_BYTES)
  if (short !== undefined) return short
  const length = u16(octets, start + 4)
  if (length < UDP_BYTES || start + length > end)
    return failed("length", "udp", "length", start + 4, length, `8 to ${end - start}`)
  const value: Udp = {
    sourcePort: u16(octets, start),
    destinationPort: u16(octets, start + 2),
    payloadBytes: length - UDP_BYTES,
    checksum: u16(octets, start + 6),
  }
  return parsed(value, start + UDP_BYTES, start + length)
}

/** Writes the header and returns where the payload goes. */
export const emitUdp = (value: Udp, octets: Uint8Array, start = 0): number => {
  space(octets, start, UDP_BYTES, "udp")
  put16(octets, start, uint(value.sourcePort, 16, "udp", "sourcePort"))
  put16(octets, start + 2, uint(value.destinationPort, 16, "udp", "destinationPort"))
  put16(octets, start + 4, uint(value.payloadBytes + UDP_BYTES, 16, "udp", "payloadBytes"))
  put16(octets, start + 6, uint(value.checksum, 16, "udp", "checksum"))
  return start + UDP_BYTES
}
