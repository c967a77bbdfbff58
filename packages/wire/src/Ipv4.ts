import { addWords, foldWords } from "./Checksum.ts"
import { layout } from "./Layout.ts"
import { EmitError, put16, put32, space, u16, u32, uint } from "./Octets.ts"
import { type Option, parseOptions } from "./Options.ts"
import { failed, NO_FAULTS, type Parse, parsed, type Result, shortage, type WireError, wrong } from "./Result.ts"

/** IPv4 (RFC 791, RFC 2474, RFC 3168). */
export interface Ipv4 {
  /** DSCP and ECN: 8 bits. */
  readonly trafficClass: number
  readonly identification: number
  readonly dontFragment: boolean
  readonly moreFragments: boolean
  /** In units of 8 octets, 0 to 8,191. */
  readonly fragmentOffset: number
  readonly ttl: number
  readonly protocol: number
  readonly source: number
  readonly destination: number
  /** 0 to 40 octets, a multiple of four. */
  readonly options: Uint8Array
  readonly payloadBytes: number
}

export const IPV4_BYTES = 20
const OPTIONS_BYTES_MAX = 40

export const IpProtocol = {
  HopByHop: 0,
  Icmp: 1,
  Tcp: 6,
  Udp: 17,
  Routing: 43,
  Fragment: 44,
  Gre: 47,
  Authentication: 51,
  Icmpv6: 58,
  NoNext: 59,
  DestinationOptions: 60,
} as const

export const IPV4 = /* @__PURE__ */ layout(
  "ipv4",
  "version:4 headerWords:4 trafficClass:8 totalLength:16 identification:16 _:1 dontFragment:1 moreFragments:1 fragmentOffset:13 ttl:8 protocol:8 checksum:16 source:32 destination:32",
)

export const ipv4Bytes = (value: Ipv4): number => IPV4_BYTES + value.options.length

/**
 * Fails for another version, a header below 20 octets, or a total length below the header or past `end`. A wrong header
 * checksum and the reserved flag are faults.
 */
export const parseIpv4 = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ipv4> => {
  const short = shortage("ipv4", octets, start, end, IPV4_BYTES)
  if (short !== undefined) return short
  const first = octets[start]!
  if (first >> 4 !== 4) return failed("reserved", "ipv4", "version", start, first >> 4, "4")
  const bytes = (first & 15) * 4
  if (bytes < IPV4_BYTES) return failed("length", "ipv4", "headerWords", start, first & 15, "5 to 15")
  const cut = shortage("ipv4", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const totalLength = u16(octets, start + 2)
  if (totalLength < bytes || start + totalLength > end)
    return failed("length", "ipv4", "totalLength", start + 2, totalLength, `${bytes} to ${end - start}`)
  const fragment = u16(octets, start + 6)
  const value: Ipv4 = {
    trafficClass: octets[start + 1]!,
    identification: u16(octets, start + 4),
    dontFragment: (fragment & 0x4000) !== 0,
    moreFragments: (fragment & 0x2000) !== 0,
    fragmentOffset: fragment & 0x1fff,
    ttl: octets[start + 8]!,
    protocol: octets[start + 9]!,
    source: u32(octets, start + 12),
    destination: u32(octets, start + 16),
    options: octets.subarray(start + IPV4_BYTES, start + bytes),
    payloadBytes: totalLength - bytes,
  }
  return parsed(value, start + bytes, start + totalLength, faultsOf(octets, start, bytes))
}

const faultsOf = (octets: Uint8Array, start: number, bytes: number): ReadonlyArray<WireError> => {
  const right = ipv4Checksum(octets, start, bytes)
  const found = u16(octets, start + 10)
  const sum = found === right ? undefined : wrong("checksum", "ipv4", "checksum", start + 10, found, `${right}`)
  const flag = (octets[start + 6]! & 0x80) === 0 ? undefined : wrong("ignored", "ipv4", "reserved", start + 6, 1, "0")
  if (sum === undefined && flag === undefined) return NO_FAULTS
  return [flag, sum].filter((each) => each !== undefined)
}

/** The checksum that the header of `bytes` octets at `start` should carry, whatever it carries now. */
export const ipv4Checksum = (octets: Uint8Array, start: number, bytes: number): number =>
  foldWords(addWords(addWords(0, octets, start, start + 10), octets, start + 12, start + bytes))

/** Writes the header with its checksum. */
export const emitIpv4 = (value: Ipv4, octets: Uint8Array, start = 0): number => {
  const bytes = ipv4Bytes(value)
  if (value.options.length > OPTIONS_BYTES_MAX || value.options.length % 4 !== 0)
    throw new EmitError("ipv4", "options", value.options.length, "0 to 40 octets, a multiple of four")
  space(octets, start, bytes, "ipv4")
  const flags = (value.dontFragment ? 0x4000 : 0) | (value.moreFragments ? 0x2000 : 0)
  octets[start] = 0x40 | (bytes / 4)
  octets[start + 1] = uint(value.trafficClass, 8, "ipv4", "trafficClass")
  put16(octets, start + 2, uint(bytes + value.payloadBytes, 16, "ipv4", "payloadBytes"))
  put16(octets, start + 4, uint(value.identification, 16, "ipv4", "identification"))
  put16(octets, start + 6, flags | uint(value.fragmentOffset, 13, "ipv4", "fragmentOffset"))
  octets[start + 8] = uint(value.ttl, 8, "ipv4", "ttl")
  octets[start + 9] = uint(value.protocol, 8, "ipv4", "protocol")
  put32(octets, start + 12, uint(value.source, 32, "ipv4", "source"))
  put32(octets, start + 16, uint(value.destination, 32, "ipv4", "destination"))
  octets.set(value.options, start + IPV4_BYTES)
  put16(octets, start + 10, ipv4Checksum(octets, start, bytes))
  return start + bytes
}

/** The options one by one; offsets in an error count from their start. */
export const parseIpv4Options = (options: Uint8Array): Result<ReadonlyArray<Option>> => parseOptions("ipv4", options)

export type { Option } from "./Options.ts"
export { dscpOf, Ecn, ecnOf, trafficClassOf } from "./TrafficClass.ts"
