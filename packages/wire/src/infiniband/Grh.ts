import { layout } from "../Layout.ts"
import { put16, put32, putOctets, space, u16, u32, uint } from "../Octets.ts"
import { failed, type Parse, parsed, shortage } from "../Result.ts"

/** Global route header (IBTA 1.7 §8.3): the form of IPv6. */
export interface Grh {
  /** 8 bits. */
  readonly trafficClass: number
  /** 20 bits. */
  readonly flowLabel: number
  /** Octets after this header, up to and with the ICRC. */
  readonly payloadBytes: number
  /** 0x1b for a BTH. */
  readonly nextHeader: number
  readonly hopLimit: number
  /** 16 octets. */
  readonly sourceGid: Uint8Array
  readonly destinationGid: Uint8Array
}

export const GRH_BYTES = 40
/** A BTH follows. */
export const GRH_NEXT_BTH = 0x1b

export const GRH = /* @__PURE__ */ layout(
  "grh",
  "version:4 trafficClass:8 flowLabel:20 payloadBytes:16 nextHeader:8 hopLimit:8 sourceGid:16B destinationGid:16B",
)

/** Fails for a version other than 6, or a payload past `end`. */
export const parseGrh = (octets: Uint8Array, start = 0, end = octets.length): Parse<Grh> => {
  const short = shortage("grh", octets, start, end, GRH_BYTES)
  if (short !== undefined) return short
  const first = u32(octets, start)
  if (first >>> 28 !== 6) return failed("reserved", "grh", "version", start, first >>> 28, "6")
  const payloadBytes = u16(octets, start + 4)
  const payloadEnd = start + GRH_BYTES + payloadBytes
  if (payloadEnd > end)
    return failed("length", "grh", "payloadBytes", start + 4, payloadBytes, `${end - start - GRH_BYTES} at most`)
  const value: Grh = {
    trafficClass: (first >>> 20) & 0xff,
    flowLabel: first & 0xf_ffff,
    payloadBytes,
    nextHeader: octets[start + 6]!,
    hopLimit: octets[start + 7]!,
    sourceGid: octets.slice(start + 8, start + 24),
    destinationGid: octets.slice(start + 24, start + 40),
  }
  return parsed(value, start + GRH_BYTES, payloadEnd)
}

export const emitGrh = (value: Grh, octets: Uint8Array, start = 0): number => {
  space(octets, start, GRH_BYTES, "grh")
  const trafficClass = uint(value.trafficClass, 8, "grh", "trafficClass")
  put32(octets, start, ((6 << 28) | (trafficClass << 20) | uint(value.flowLabel, 20, "grh", "flowLabel")) >>> 0)
  put16(octets, start + 4, uint(value.payloadBytes, 16, "grh", "payloadBytes"))
  octets[start + 6] = uint(value.nextHeader, 8, "grh", "nextHeader")
  octets[start + 7] = uint(value.hopLimit, 8, "grh", "hopLimit")
  putOctets(octets, start + 8, value.sourceGid, 16, "grh", "sourceGid")
  putOctets(octets, start + 24, value.destinationGid, 16, "grh", "destinationGid")
  return start + GRH_BYTES
}
