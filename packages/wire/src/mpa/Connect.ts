import { layout } from "../Layout.ts"
import { EmitError, put16, space, u16, uint } from "../Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"

/** What a side of an enhanced connection says before the private data (RFC 6581 §9). */
export interface MpaEnhanced {
  /** Inbound RDMA READs it can hold, 0 to 0x3fff; 0x3fff leaves it to the consumer. */
  readonly inboundReads: number
  /** Outbound RDMA READs it may start, as above. */
  readonly outboundReads: number
  /** A: the connection is set up peer to peer, so the initiator's first message is a ready-to-receive. */
  readonly peerToPeer: boolean
  /** B: that may be a SEND of no octets. */
  readonly readyBySend: boolean
  /** C: that may be an RDMA WRITE of no octets. */
  readonly readyByWrite: boolean
  /** D: that may be an RDMA READ of no octets. */
  readonly readyByRead: boolean
}

/** The frame that opens an iWARP stream in each direction (RFC 5044 §7.1.1). */
export interface Mpa {
  readonly kind: "request" | "reply"
  /** Whether the sender wants markers in what it receives. */
  readonly markers: boolean
  /** Whether the sender wants CRCs; they are used when either side does. */
  readonly crc: boolean
  /** Whether the connection is refused; in a reply only. */
  readonly rejected: boolean
  readonly revision: 1 | 2
  /** Present in revision 2 with the S flag. */
  readonly enhanced: MpaEnhanced | undefined
  /** At most 512 octets, 508 behind `enhanced`. */
  readonly privateData: Uint8Array
}

export const MPA_BYTES = 20
export const MPA_PRIVATE_BYTES_MAX = 512
const ENHANCED_BYTES = 4
const KEY_BYTES = 16
const HALF = 0x3fff

export const MPA = /* @__PURE__ */ layout(
  "mpa",
  "key:16B markers:1 crc:1 rejected:1 enhancedFlag:1 _:4 revision:8 privateDataBytes:16",
)

const keyOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0))
const REQUEST = /* @__PURE__ */ keyOf("MPA ID Req Frame")
const REPLY = /* @__PURE__ */ keyOf("MPA ID Rep Frame")

const hasKey = (octets: Uint8Array, start: number, key: Uint8Array): boolean =>
  key.every((octet, index) => octets[start + index] === octet)

/** Fails for another key, another revision, more than 512 octets of private data, and a request that rejects. */
export const parseMpa = (octets: Uint8Array, start = 0, end = octets.length): Parse<Mpa> => {
  const short = shortage("mpa", octets, start, end, MPA_BYTES)
  if (short !== undefined) return short
  const isRequest = hasKey(octets, start, REQUEST)
  if (!isRequest && !hasKey(octets, start, REPLY)) return failed("value", "mpa", "key", start)
  const at = start + KEY_BYTES
  const flags = octets[at]!
  const revision = octets[at + 1]!
  const bytes = u16(octets, at + 2)
  if (revision !== 1 && revision !== 2) return failed("reserved", "mpa", "revision", at + 1, revision, "1 or 2")
  if (isRequest && (flags & 0x20) !== 0) return failed("value", "mpa", "rejected", at, 1, "0 in a request")
  if (bytes > MPA_PRIVATE_BYTES_MAX)
    return failed("length", "mpa", "privateDataBytes", at + 2, bytes, `at most ${MPA_PRIVATE_BYTES_MAX}`)
  const isEnhanced = revision === 2 && (flags & 0x10) !== 0
  if (isEnhanced && bytes < ENHANCED_BYTES)
    return failed("length", "mpa", "privateDataBytes", at + 2, bytes, `at least ${ENHANCED_BYTES}`)
  const body = start + MPA_BYTES
  const cut = shortage("mpa", octets, start, end, MPA_BYTES + bytes)
  if (cut !== undefined) return cut
  const reserved = flags & (revision === 1 ? 0x1f : 0x0f)
  const faults: ReadonlyArray<WireError> =
    reserved === 0 ? NO_FAULTS : [wrong("ignored", "mpa", "reserved", at, reserved, "0")]
  const value: Mpa = {
    kind: isRequest ? "request" : "reply",
    markers: (flags & 0x80) !== 0,
    crc: (flags & 0x40) !== 0,
    rejected: (flags & 0x20) !== 0,
    revision,
    enhanced: isEnhanced ? enhancedOf(u16(octets, body), u16(octets, body + 2)) : undefined,
    privateData: octets.subarray(body + (isEnhanced ? ENHANCED_BYTES : 0), body + bytes),
  }
  return parsed(value, body + bytes, end, faults)
}

const enhancedOf = (inbound: number, outbound: number): MpaEnhanced => ({
  inboundReads: inbound & HALF,
  outboundReads: outbound & HALF,
  peerToPeer: (inbound & 0x8000) !== 0,
  readyBySend: (inbound & 0x4000) !== 0,
  readyByWrite: (outbound & 0x8000) !== 0,
  readyByRead: (outbound & 0x4000) !== 0,
})

/** Writes the frame with its private data. */
export const emitMpa = (value: Mpa, octets: Uint8Array, start = 0): number => {
  const { enhanced, privateData } = value
  if (enhanced !== undefined && value.revision !== 2)
    throw new EmitError("mpa", "revision", value.revision, "2 for an enhanced connection")
  if (value.rejected && value.kind === "request") throw new EmitError("mpa", "rejected", 1, "false in a request")
  const bytes = privateData.length + (enhanced === undefined ? 0 : ENHANCED_BYTES)
  if (bytes > MPA_PRIVATE_BYTES_MAX)
    throw new EmitError("mpa", "privateData", bytes, `at most ${MPA_PRIVATE_BYTES_MAX} octets`)
  space(octets, start, MPA_BYTES + bytes, "mpa")
  octets.set(value.kind === "request" ? REQUEST : REPLY, start)
  const at = start + KEY_BYTES
  const consent = (value.markers ? 0x80 : 0) | (value.crc ? 0x40 : 0)
  octets[at] = consent | (value.rejected ? 0x20 : 0) | (enhanced === undefined ? 0 : 0x10)
  octets[at + 1] = value.revision
  put16(octets, at + 2, bytes)
  let body = start + MPA_BYTES
  if (enhanced !== undefined) {
    const { peerToPeer, readyBySend, readyByWrite, readyByRead } = enhanced
    const inbound = uint(enhanced.inboundReads, 14, "mpa", "inboundReads")
    const outbound = uint(enhanced.outboundReads, 14, "mpa", "outboundReads")
    put16(octets, body, inbound | (peerToPeer ? 0x8000 : 0) | (readyBySend ? 0x4000 : 0))
    put16(octets, body + 2, outbound | (readyByWrite ? 0x8000 : 0) | (readyByRead ? 0x4000 : 0))
    body += ENHANCED_BYTES
  }
  octets.set(privateData, body)
  return body + privateData.length
}
