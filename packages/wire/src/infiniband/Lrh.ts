import { layout, reservedFaults } from "../Layout.ts"
import { EmitError, put16, space, u16, uint } from "../Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage } from "../Result.ts"

/** What follows an LRH (IBTA 1.7 §7.7.5): a raw EtherType, an IPv6 packet, a BTH, or a GRH. */
export type LinkNextHeader = "raw" | "ipv6" | "local" | "global"

/** Local route header (IBTA 1.7 §7.7). */
export interface Lrh {
  /** 0 to 15; 15 carries subnet management. */
  readonly virtualLane: number
  readonly serviceLevel: number
  readonly next: LinkNextHeader
  readonly destinationLid: number
  /** Octets after this header, up to and with the ICRC: a multiple of four, 12 to 8,180. The VCRC is not counted. */
  readonly payloadBytes: number
  readonly sourceLid: number
}

export const LRH_BYTES = 8
const WORDS_MIN = 5
const WORDS_MAX = 0x7ff

export const LRH = /* @__PURE__ */ layout(
  "lrh",
  "virtualLane:4 version:4 serviceLevel:4 _:2 next:2 destinationLid:16 _:5 words:11 sourceLid:16",
)

const nexts = ["raw", "ipv6", "local", "global"] as const

/** Fails for a version other than 0, and a length below five words or past `end`. Reserved bits are a fault. */
export const parseLrh = (octets: Uint8Array, start = 0, end = octets.length): Parse<Lrh> => {
  const short = shortage("lrh", octets, start, end, LRH_BYTES)
  if (short !== undefined) return short
  const first = octets[start]!
  if ((first & 15) !== 0) return failed("reserved", "lrh", "version", start, first & 15, "0")
  const second = octets[start + 1]!
  const length = u16(octets, start + 4)
  const words = length & 0x7ff
  if (words < WORDS_MIN || start + 4 * words > end) {
    const most = Math.floor((end - start) / 4)
    return failed("length", "lrh", "words", start + 4, words, `${WORDS_MIN} to ${most}`)
  }
  const value: Lrh = {
    virtualLane: first >> 4,
    serviceLevel: second >> 4,
    next: nexts[second & 3]!,
    destinationLid: u16(octets, start + 2),
    payloadBytes: 4 * words - LRH_BYTES,
    sourceLid: u16(octets, start + 6),
  }
  const reserved = (second & 12) | (length >> 11)
  return parsed(
    value,
    start + LRH_BYTES,
    start + 4 * words,
    reserved === 0 ? NO_FAULTS : reservedFaults(LRH, octets, start),
  )
}

export const emitLrh = (value: Lrh, octets: Uint8Array, start = 0): number => {
  const words = (value.payloadBytes + LRH_BYTES) / 4
  space(octets, start, LRH_BYTES, "lrh")
  octets[start] = uint(value.virtualLane, 4, "lrh", "virtualLane") << 4
  octets[start + 1] = (uint(value.serviceLevel, 4, "lrh", "serviceLevel") << 4) | nexts.indexOf(value.next)
  put16(octets, start + 2, uint(value.destinationLid, 16, "lrh", "destinationLid"))
  if (words < WORDS_MIN || words > WORDS_MAX || !Number.isInteger(words))
    throw new EmitError("lrh", "payloadBytes", value.payloadBytes, "a multiple of four, 12 to 8180")
  put16(octets, start + 4, words)
  put16(octets, start + 6, uint(value.sourceLid, 16, "lrh", "sourceLid"))
  return start + LRH_BYTES
}
