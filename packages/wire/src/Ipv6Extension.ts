import { type Layout, layout, reservedFaults } from "./Layout.ts"
import { EmitError, put16, put32, space, u16, u32, uint } from "./Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, type Result, shortage, wrong } from "./Result.ts"

/** An IPv6 extension header (RFC 8200 §4, RFC 4302). Octets are subarrays of the input. */
export type Ipv6Extension =
  | {
      readonly kind: "hopByHop" | "destinationOptions"
      readonly nextHeader: number
      /** TLVs, 6 octets and then multiples of 8: `parseIpv6Options` reads them. */
      readonly options: Uint8Array
    }
  | {
      readonly kind: "routing"
      readonly nextHeader: number
      readonly routingType: number
      readonly segmentsLeft: number
      /** What the type defines, 4 octets and then multiples of 8. */
      readonly data: Uint8Array
    }
  | {
      readonly kind: "fragment"
      readonly nextHeader: number
      /** In units of 8 octets, 0 to 8,191. */
      readonly fragmentOffset: number
      readonly moreFragments: boolean
      readonly identification: number
    }
  | {
      readonly kind: "authentication"
      readonly nextHeader: number
      readonly securityParameters: number
      readonly sequence: number
      /** The integrity check value, a multiple of four octets. */
      readonly data: Uint8Array
    }

type Kind = Ipv6Extension["kind"]

const FORMAT = "ipv6Extension"
const kinds: ReadonlyMap<number, Kind> = /* @__PURE__ */ new Map([
  [0, "hopByHop"],
  [43, "routing"],
  [44, "fragment"],
  [51, "authentication"],
  [60, "destinationOptions"],
])

export const IPV6_FRAGMENT = /* @__PURE__ */ layout(
  FORMAT,
  "nextHeader:8 _:8 fragmentOffset:13 _:2 moreFragments:1 identification:32",
)

export const IPV6_OPTIONS = /* @__PURE__ */ layout(FORMAT, "nextHeader:8 length:8")
export const IPV6_ROUTING = /* @__PURE__ */ layout(FORMAT, "nextHeader:8 length:8 routingType:8 segmentsLeft:8")
export const IPV6_AUTHENTICATION = /* @__PURE__ */ layout(
  FORMAT,
  "nextHeader:8 length:8 _:16 securityParameters:32 sequence:32",
)

/** The layout of the fixed part; what is behind it is `options` or `data`. */
export const ipv6ExtensionLayout = (kind: Kind): Layout => {
  if (kind === "fragment") return IPV6_FRAGMENT
  if (kind === "routing") return IPV6_ROUTING
  return kind === "authentication" ? IPV6_AUTHENTICATION : IPV6_OPTIONS
}

/** Whether the protocol number is one of the extension headers that are read here. */
export const isIpv6Extension = (protocol: number): boolean => kinds.has(protocol)

/** Reads the extension header that the protocol number `header` announced. */
export const parseIpv6Extension = (
  header: number,
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<Ipv6Extension> => {
  const kind = kinds.get(header)
  if (kind === undefined) return failed("unsupported", FORMAT, "header", start, header)
  const short = shortage(FORMAT, octets, start, end, 8)
  if (short !== undefined) return short
  const nextHeader = octets[start]!
  const length = octets[start + 1]!
  if (kind === "fragment") return parseFragment(octets, start, end)
  const bytes = kind === "authentication" ? (length + 2) * 4 : (length + 1) * 8
  if (bytes < 8 || start + bytes > end)
    return failed("length", FORMAT, "length", start + 1, length, `${end - start} octets at most`)
  const cut = shortage(FORMAT, octets, start, end, kind === "authentication" ? Math.max(bytes, 12) : bytes)
  if (cut !== undefined) return cut
  const headerEnd = start + bytes
  if (kind === "routing") {
    const data = octets.subarray(start + 4, headerEnd)
    const value = { kind, nextHeader, routingType: octets[start + 2]!, segmentsLeft: octets[start + 3]!, data } as const
    return parsed<Ipv6Extension>(value, headerEnd, end)
  }
  if (kind === "authentication") {
    if (bytes < 12) return failed("length", FORMAT, "length", start + 1, length, "1 at least")
    const reserved = u16(octets, start + 2)
    const faults = reserved === 0 ? NO_FAULTS : [wrong("ignored", FORMAT, "reserved", start + 2, reserved, "0")]
    const value = {
      kind,
      nextHeader,
      securityParameters: u32(octets, start + 4),
      sequence: u32(octets, start + 8),
      data: octets.subarray(start + 12, headerEnd),
    } as const
    return parsed<Ipv6Extension>(value, headerEnd, end, faults)
  }
  return parsed<Ipv6Extension>({ kind, nextHeader, options: octets.subarray(start + 2, headerEnd) }, headerEnd, end)
}

const parseFragment = (octets: Uint8Array, start: number, end: number): Parse<Ipv6Extension> => {
  const word = u16(octets, start + 2)
  const value = {
    kind: "fragment",
    nextHeader: octets[start]!,
    fragmentOffset: word >> 3,
    moreFragments: (word & 1) !== 0,
    identification: u32(octets, start + 4),
  } as const
  return parsed<Ipv6Extension>(value, start + 8, end, reservedFaults(IPV6_FRAGMENT, octets, start))
}

export const ipv6ExtensionBytes = (value: Ipv6Extension): number => {
  if (value.kind === "fragment") return 8
  if (value.kind === "routing") return 4 + value.data.length
  if (value.kind === "authentication") return 12 + value.data.length
  return 2 + value.options.length
}

export const emitIpv6Extension = (value: Ipv6Extension, octets: Uint8Array, start = 0): number => {
  const bytes = ipv6ExtensionBytes(value)
  const unit = value.kind === "authentication" ? 4 : 8
  if (bytes % unit !== 0) throw new EmitError(FORMAT, "data", bytes, `a header that is a multiple of ${unit} octets`)
  space(octets, start, bytes, FORMAT)
  octets[start] = uint(value.nextHeader, 8, FORMAT, "nextHeader")
  if (value.kind === "fragment") {
    const offset = uint(value.fragmentOffset, 13, FORMAT, "fragmentOffset") << 3
    octets[start + 1] = 0
    put16(octets, start + 2, offset | (value.moreFragments ? 1 : 0))
    put32(octets, start + 4, uint(value.identification, 32, FORMAT, "identification"))
  } else if (value.kind === "authentication") {
    octets[start + 1] = uint(bytes / 4 - 2, 8, FORMAT, "data")
    put16(octets, start + 2, 0)
    put32(octets, start + 4, uint(value.securityParameters, 32, FORMAT, "securityParameters"))
    put32(octets, start + 8, uint(value.sequence, 32, FORMAT, "sequence"))
    octets.set(value.data, start + 12)
  } else {
    octets[start + 1] = uint(bytes / 8 - 1, 8, FORMAT, "data")
    if (value.kind === "routing") {
      octets[start + 2] = uint(value.routingType, 8, FORMAT, "routingType")
      octets[start + 3] = uint(value.segmentsLeft, 8, FORMAT, "segmentsLeft")
      octets.set(value.data, start + 4)
    } else octets.set(value.options, start + 2)
  }
  return start + bytes
}

/** One option of a hop-by-hop or destination header. Type 0 (one octet of padding) has no data. */
export interface Ipv6Option {
  /** The upper two bits say what a node does that does not know it, the third whether it changes en route. */
  readonly type: number
  readonly data: Uint8Array
}

/** The options one by one; offsets in an error count from their start. */
export const parseIpv6Options = (octets: Uint8Array): Result<ReadonlyArray<Ipv6Option>> => {
  const options: Array<Ipv6Option> = []
  for (let at = 0; at < octets.length; ) {
    const type = octets[at]!
    const length = type === 0 ? 0 : octets[at + 1]
    if (length === undefined) return failed("truncated", FORMAT, "options", octets.length)
    const data = type === 0 ? at + 1 : at + 2
    if (data + length > octets.length)
      return failed("length", FORMAT, "options", at + 1, length, `${octets.length - data} at most`)
    options.push({ type, data: octets.subarray(data, data + length) })
    at = data + length
  }
  return { ok: true, value: options }
}
