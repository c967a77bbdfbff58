import { layout } from "./Layout.ts"
import { put16, put32, space, u16, u32, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "./Result.ts"

/** GRE (RFC 2784, RFC 2890). */
export interface Gre {
  /** An EtherType: 0x6558 is a bridged Ethernet frame, 0x88be ERSPAN of type I (no sequence) or II. */
  readonly protocol: number
  /** It covers the payload. */
  readonly checksum: number | undefined
  readonly key: number | undefined
  readonly sequence: number | undefined
}

export const GreProtocol = { TransparentBridging: 0x6558, Erspan: 0x88be } as const

export const GRE_BYTES = 4
const CHECKSUM = 0x8000
const ROUTING = 0x4000
const KEY = 0x2000
const SEQUENCE = 0x1000

export const GRE = /* @__PURE__ */ layout("gre", "hasChecksum:1 _:1 hasKey:1 hasSequence:1 _:9 version:3 protocol:16")

/** The words that may follow, in this order, each when its bit says so. */
export const GRE_CHECKSUM = /* @__PURE__ */ layout("gre", "checksum:16 _:16")
export const GRE_KEY = /* @__PURE__ */ layout("gre", "key:32")
export const GRE_SEQUENCE = /* @__PURE__ */ layout("gre", "sequence:32")

export const greBytes = (value: Gre): number =>
  GRE_BYTES + 4 * [value.checksum, value.key, value.sequence].filter((each) => each !== undefined).length

/** Fails for another version (1 is PPTP's) and for source routes (RFC 1701). Other reserved bits are a fault. */
export const parseGre = (octets: Uint8Array, start = 0, end = octets.length): Parse<Gre> => {
  const short = shortage("gre", octets, start, end, GRE_BYTES)
  if (short !== undefined) return short
  const flags = u16(octets, start)
  if ((flags & 7) !== 0) return failed("unsupported", "gre", "version", start + 1, flags & 7, "0")
  if ((flags & ROUTING) !== 0) return failed("reserved", "gre", "routing", start, 1, "0")
  const words = ((flags >> 15) & 1) + ((flags >> 13) & 1) + ((flags >> 12) & 1)
  const bytes = GRE_BYTES + 4 * words
  const cut = shortage("gre", octets, start, end, bytes)
  if (cut !== undefined) return cut
  let at = start + GRE_BYTES
  const next = (): number => {
    at += 4
    return at - 4
  }
  const checksumAt = (flags & CHECKSUM) === 0 ? -1 : next()
  const value: Gre = {
    protocol: u16(octets, start + 2),
    checksum: checksumAt < 0 ? undefined : u16(octets, checksumAt),
    key: (flags & KEY) === 0 ? undefined : u32(octets, next()),
    sequence: (flags & SEQUENCE) === 0 ? undefined : u32(octets, next()),
  }
  const faults: Array<WireError> = []
  const reserved = (flags >> 3) & 0x1ff
  if (reserved !== 0) faults.push(wrong("ignored", "gre", "reserved", start, reserved, "0"))
  const reserved1 = checksumAt < 0 ? 0 : u16(octets, checksumAt + 2)
  if (reserved1 !== 0) faults.push(wrong("ignored", "gre", "reserved1", checksumAt + 2, reserved1, "0"))
  return parsed(value, start + bytes, end, faults)
}

export const emitGre = (value: Gre, octets: Uint8Array, start = 0): number => {
  space(octets, start, greBytes(value), "gre")
  const { checksum, key, sequence } = value
  const flags =
    (checksum === undefined ? 0 : CHECKSUM) | (key === undefined ? 0 : KEY) | (sequence === undefined ? 0 : SEQUENCE)
  put16(octets, start, flags)
  put16(octets, start + 2, uint(value.protocol, 16, "gre", "protocol"))
  let at = start + GRE_BYTES
  const word = (number: number): void => {
    put32(octets, at, number)
    at += 4
  }
  if (checksum !== undefined) word(uint(checksum, 16, "gre", "checksum") * 0x1_0000)
  if (key !== undefined) word(uint(key, 32, "gre", "key"))
  if (sequence !== undefined) word(uint(sequence, 32, "gre", "sequence"))
  return at
}

export { ERSPAN, ERSPAN_BYTES, type Erspan, emitErspan, parseErspan } from "./Erspan.ts"
