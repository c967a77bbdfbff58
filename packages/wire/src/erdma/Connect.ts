import { layout } from "../Layout.ts"
import { EmitError, put16, put32, space, u16, u32, uint } from "../Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"

/**
 * The frame that opens a stream of eRDMA in each direction: that of MPA (RFC 5044 §7.1.1) in a revision of its own, with
 * an extension before the private data, whose length does not count it (Linux, erdma_cm.h).
 */
export interface ErdmaMpa {
  readonly kind: "request" | "reply"
  /** Both have to be false: the device has neither markers nor CRCs. */
  readonly markers: boolean
  readonly crc: boolean
  /** The connection is refused; in a reply. */
  readonly rejected: boolean
  /** Tells apart connections between the same addresses, 32 bits. */
  readonly cookie: number
  /** The congestion control asked for, 0 to 15. */
  readonly congestionControl: number
  /** At most 512 octets. */
  readonly privateData: Uint8Array
}

export const ERDMA_MPA_BYTES = 28
export const ERDMA_MPA_REVISION = 129
const PRIVATE_BYTES_MAX = 512

export const ERDMA_MPA = /* @__PURE__ */ layout(
  "erdmaMpa",
  "key:16B markers:1 crc:1 rejected:1 _:5 revision:8 privateDataBytes:16 cookie:32 _:28 congestionControl:4",
)

const keyOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0))
const REQUEST = /* @__PURE__ */ keyOf("MPA ID Req Frame")
const REPLY = /* @__PURE__ */ keyOf("MPA ID Rep Frame")

const hasKey = (octets: Uint8Array, start: number, key: Uint8Array): boolean =>
  key.every((octet, index) => octets[start + index] === octet)

/** Fails for another key or revision, and for more than 512 octets of private data. */
export const parseErdmaMpa = (octets: Uint8Array, start = 0, end = octets.length): Parse<ErdmaMpa> => {
  const short = shortage("erdmaMpa", octets, start, end, ERDMA_MPA_BYTES)
  if (short !== undefined) return short
  const isRequest = hasKey(octets, start, REQUEST)
  if (!isRequest && !hasKey(octets, start, REPLY)) return failed("value", "erdmaMpa", "key", start)
  const at = start + REQUEST.length
  const flags = octets[at]!
  const revision = octets[at + 1]!
  const bytes = u16(octets, at + 2)
  if (revision !== ERDMA_MPA_REVISION)
    return failed("reserved", "erdmaMpa", "revision", at + 1, revision, String(ERDMA_MPA_REVISION))
  if (bytes > PRIVATE_BYTES_MAX)
    return failed("length", "erdmaMpa", "privateDataBytes", at + 2, bytes, `at most ${PRIVATE_BYTES_MAX}`)
  const cut = shortage("erdmaMpa", octets, start, end, ERDMA_MPA_BYTES + bytes)
  if (cut !== undefined) return cut
  const bits = u32(octets, at + 8)
  const faults: Array<WireError> = []
  if ((flags & 0x1f) !== 0) faults.push(wrong("ignored", "erdmaMpa", "reserved", at, flags & 0x1f, "0"))
  if (bits > 0xf) faults.push(wrong("ignored", "erdmaMpa", "bits", at + 8, bits >>> 4, "0"))
  const body = start + ERDMA_MPA_BYTES
  const value: ErdmaMpa = {
    kind: isRequest ? "request" : "reply",
    markers: (flags & 0x80) !== 0,
    crc: (flags & 0x40) !== 0,
    rejected: (flags & 0x20) !== 0,
    cookie: u32(octets, at + 4),
    congestionControl: bits & 0xf,
    privateData: octets.subarray(body, body + bytes),
  }
  return parsed(value, body + bytes, end, faults.length === 0 ? NO_FAULTS : faults)
}

/** Writes the frame with its private data. */
export const emitErdmaMpa = (value: ErdmaMpa, octets: Uint8Array, start = 0): number => {
  const { privateData } = value
  const bytes = privateData.length
  if (bytes > PRIVATE_BYTES_MAX)
    throw new EmitError("erdmaMpa", "privateData", bytes, `at most ${PRIVATE_BYTES_MAX} octets`)
  space(octets, start, ERDMA_MPA_BYTES + bytes, "erdmaMpa")
  octets.set(value.kind === "request" ? REQUEST : REPLY, start)
  const at = start + REQUEST.length
  octets[at] = (value.markers ? 0x80 : 0) | (value.crc ? 0x40 : 0) | (value.rejected ? 0x20 : 0)
  octets[at + 1] = ERDMA_MPA_REVISION
  put16(octets, at + 2, bytes)
  put32(octets, at + 4, uint(value.cookie, 32, "erdmaMpa", "cookie"))
  put32(octets, at + 8, uint(value.congestionControl, 4, "erdmaMpa", "congestionControl"))
  octets.set(privateData, start + ERDMA_MPA_BYTES)
  return start + ERDMA_MPA_BYTES + bytes
}
