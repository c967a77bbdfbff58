import { layout } from "./Layout.ts"
import { put16, space, u16, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** ICMP echo for IPv4 (RFC 792) and IPv6 (RFC 4443 §4). */
export interface IcmpEcho {
  readonly version: 4 | 6
  readonly kind: "request" | "reply"
  /** As it is on the wire; it covers the payload, and for IPv6 a pseudo-header. */
  readonly checksum: number
  readonly identifier: number
  readonly sequence: number
}

export const ICMP_ECHO_BYTES = 8

export const ICMP_ECHO = /* @__PURE__ */ layout("icmpEcho", "type:8 code:8 checksum:16 identifier:16 sequence:16")

const types = { 4: { request: 8, reply: 0 }, 6: { request: 128, reply: 129 } } as const

/** Other types are `unsupported`; the version tells the two protocols apart. */
export const parseIcmpEcho = (version: 4 | 6, octets: Uint8Array, start = 0, end = octets.length): Parse<IcmpEcho> => {
  const short = shortage("icmpEcho", octets, start, end, ICMP_ECHO_BYTES)
  if (short !== undefined) return short
  const type = octets[start]!
  const { request, reply } = types[version]
  if (type !== request && type !== reply) return failed("unsupported", "icmpEcho", "type", start, type)
  const code = octets[start + 1]!
  if (code !== 0) return failed("reserved", "icmpEcho", "code", start + 1, code, "0")
  const value: IcmpEcho = {
    version,
    kind: type === request ? "request" : "reply",
    checksum: u16(octets, start + 2),
    identifier: u16(octets, start + 4),
    sequence: u16(octets, start + 6),
  }
  return parsed(value, start + ICMP_ECHO_BYTES, end)
}

export const emitIcmpEcho = (value: IcmpEcho, octets: Uint8Array, start = 0): number => {
  space(octets, start, ICMP_ECHO_BYTES, "icmpEcho")
  octets[start] = types[value.version][value.kind]
  octets[start + 1] = 0
  put16(octets, start + 2, uint(value.checksum, 16, "icmpEcho", "checksum"))
  put16(octets, start + 4, uint(value.identifier, 16, "icmpEcho", "identifier"))
  put16(octets, start + 6, uint(value.sequence, 16, "icmpEcho", "sequence"))
  return start + ICMP_ECHO_BYTES
}
