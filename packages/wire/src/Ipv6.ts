import { layout } from "./Layout.ts"
import { put16, put32, putOctets, space, u16, u32, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** IPv6 (RFC 8200). */
export interface Ipv6 {
  /** DSCP and ECN: 8 bits. */
  readonly trafficClass: number
  /** 20 bits. */
  readonly flowLabel: number
  /** Octets after this header, extension headers included. */
  readonly payloadBytes: number
  readonly nextHeader: number
  readonly hopLimit: number
  /** 16 octets. */
  readonly source: Uint8Array
  readonly destination: Uint8Array
}

export const IPV6_BYTES = 40

export const IPV6 = /* @__PURE__ */ layout(
  "ipv6",
  "version:4 trafficClass:8 flowLabel:20 payloadBytes:16 nextHeader:8 hopLimit:8 source:16B destination:16B",
)

/** Fails for another version, or a payload past `end`. Jumbograms (RFC 2675) have 0 here and are not followed. */
export const parseIpv6 = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ipv6> => {
  const short = shortage("ipv6", octets, start, end, IPV6_BYTES)
  if (short !== undefined) return short
  const first = u32(octets, start)
  if (first >>> 28 !== 6) return failed("reserved", "ipv6", "version", start, first >>> 28, "6")
  const payloadBytes = u16(octets, start + 4)
  const payloadEnd = start + IPV6_BYTES + payloadBytes
  if (payloadEnd > end)
    return failed("length", "ipv6", "payloadBytes", start + 4, payloadBytes, `${end - start - IPV6_BYTES} at most`)
  const value: Ipv6 = {
    trafficClass: (first >>> 20) & 0xff,
    flowLabel: first & 0xf_ffff,
    payloadBytes,
    nextHeader: octets[start + 6]!,
    hopLimit: octets[start + 7]!,
    source: octets.slice(start + 8, start + 24),
    destination: octets.slice(start + 24, start + 40),
  }
  return parsed(value, start + IPV6_BYTES, payloadEnd)
}

export const emitIpv6 = (value: Ipv6, octets: Uint8Array, start = 0): number => {
  space(octets, start, IPV6_BYTES, "ipv6")
  const trafficClass = uint(value.trafficClass, 8, "ipv6", "trafficClass")
  put32(octets, start, ((6 << 28) | (trafficClass << 20) | uint(value.flowLabel, 20, "ipv6", "flowLabel")) >>> 0)
  put16(octets, start + 4, uint(value.payloadBytes, 16, "ipv6", "payloadBytes"))
  octets[start + 6] = uint(value.nextHeader, 8, "ipv6", "nextHeader")
  octets[start + 7] = uint(value.hopLimit, 8, "ipv6", "hopLimit")
  putOctets(octets, start + 8, value.source, 16, "ipv6", "source")
  putOctets(octets, start + 24, value.destination, 16, "ipv6", "destination")
  return start + IPV6_BYTES
}

export {
  emitIpv6Extension,
  IPV6_AUTHENTICATION,
  IPV6_FRAGMENT,
  IPV6_OPTIONS,
  IPV6_ROUTING,
  type Ipv6Extension,
  type Ipv6Option,
  ipv6ExtensionBytes,
  ipv6ExtensionLayout,
  isIpv6Extension,
  parseIpv6Extension,
  parseIpv6Options,
} from "./Ipv6Extension.ts"
export { dscpOf, Ecn, ecnOf, trafficClassOf } from "./TrafficClass.ts"
