import { type Dcbx, dcbxTlv, emitDcbx, isDcbx } from "./Dcbx.ts"
import { layout } from "./Layout.ts"
import { EmitError, put16, space, u16, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** One element of an LLDP frame (IEEE 802.1AB §8). What is not legal or not known is `other`, octets unchanged. */
export type LldpTlv =
  /** Subtype 4 is a MAC address, 7 locally assigned; 1 to 255 octets follow. */
  | { readonly kind: "chassisId"; readonly subtype: number; readonly id: Uint8Array }
  /** Subtype 3 is a MAC address, 5 an interface name. */
  | { readonly kind: "portId"; readonly subtype: number; readonly id: Uint8Array }
  | { readonly kind: "timeToLive"; readonly seconds: number }
  /** Type 4 describes the port, 5 names the system, 6 describes it. */
  | { readonly kind: "text"; readonly type: 4 | 5 | 6; readonly octets: Uint8Array }
  | Dcbx
  | { readonly kind: "other"; readonly type: number; readonly data: Uint8Array }

/** The elements of one frame, without the end mark that follows them. */
export interface Lldp {
  readonly tlvs: ReadonlyArray<LldpTlv>
}

/** What every element starts with; `length` octets follow. */
export const LLDP_TLV = /* @__PURE__ */ layout("lldp", "type:7 length:9")

/** Where bridges next to each other talk. */
export const LLDP_MAC = 0x0180_c200_000e
/** More than a frame of 1,500 octets holds. */
const TLVS_MAX = 750
/** Texts and identifiers are no longer (IEEE 802.1AB §8.5). */
const TEXT_BYTES_MAX = 255

const readTlv = (type: number, data: Uint8Array): LldpTlv => {
  if ((type === 1 || type === 2) && data.length >= 2 && data.length <= 1 + TEXT_BYTES_MAX)
    return { kind: type === 1 ? "chassisId" : "portId", subtype: data[0]!, id: data.subarray(1) }
  if (type === 3 && data.length === 2) return { kind: "timeToLive", seconds: u16(data, 0) }
  if ((type === 4 || type === 5 || type === 6) && data.length <= TEXT_BYTES_MAX)
    return { kind: "text", type, octets: data }
  if (type === 127) return dcbxTlv(data) ?? { kind: "other", type, data }
  return { kind: "other", type, data }
}

/** Reads up to the end mark. What follows it is padding. Fails when an element reaches past `end` or no end mark comes. */
export const parseLldp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Lldp> => {
  const tlvs: Array<LldpTlv> = []
  for (let at = start; ; ) {
    const short = shortage("lldp", octets, at, end, 2)
    if (short !== undefined) return short
    const word = u16(octets, at)
    const type = word >> 9
    const length = word & 0x1ff
    if (at + 2 + length > end) return failed("length", "lldp", "length", at, length, `${end - at - 2} at most`)
    const cut = shortage("lldp", octets, at, end, 2 + length)
    if (cut !== undefined) return cut
    if (type === 0) {
      if (length !== 0) return failed("length", "lldp", "length", at, length, "0 in the end mark")
      return parsed({ tlvs }, at + 2, at + 2)
    }
    if (tlvs.length === TLVS_MAX) return failed("value", "lldp", "tlvs", at, TLVS_MAX + 1, `${TLVS_MAX} at most`)
    tlvs.push(readTlv(type, octets.subarray(at + 2, at + 2 + length)))
    at += 2 + length
  }
}

const idData = (subtype: number, id: Uint8Array): Uint8Array => {
  if (id.length === 0 || id.length > TEXT_BYTES_MAX)
    throw new EmitError("lldp", "id", id.length, `1 to ${TEXT_BYTES_MAX} octets`)
  const data = new Uint8Array(1 + id.length)
  data[0] = uint(subtype, 8, "lldp", "subtype")
  data.set(id, 1)
  return data
}

const writeTlv = (tlv: LldpTlv): readonly [type: number, data: Uint8Array] => {
  if (isDcbx(tlv)) return [127, emitDcbx(tlv)]
  switch (tlv.kind) {
    case "chassisId":
      return [1, idData(tlv.subtype, tlv.id)]
    case "portId":
      return [2, idData(tlv.subtype, tlv.id)]
    case "timeToLive":
      uint(tlv.seconds, 16, "lldp", "seconds")
      return [3, new Uint8Array([tlv.seconds >> 8, tlv.seconds])]
    case "text":
      if (tlv.octets.length > TEXT_BYTES_MAX)
        throw new EmitError("lldp", "octets", tlv.octets.length, `at most ${TEXT_BYTES_MAX}`)
      return [tlv.type, tlv.octets]
    case "other":
      if (tlv.type === 0) throw new EmitError("lldp", "type", 0, "1 to 127: the end mark is added")
      return [uint(tlv.type, 7, "lldp", "type"), tlv.data]
  }
}

/** Writes the elements and the end mark. */
export const emitLldp = (value: Lldp, octets: Uint8Array, start = 0): number => {
  let at = start
  for (const tlv of value.tlvs) {
    const [type, data] = writeTlv(tlv)
    uint(data.length, 9, "lldp", "length")
    space(octets, at, 2 + data.length, "lldp")
    put16(octets, at, (type << 9) | data.length)
    octets.set(data, at + 2)
    at += 2 + data.length
  }
  space(octets, at, 2, "lldp")
  put16(octets, at, 0)
  return at + 2
}

export type { ApplicationPriority, Dcbx, TransmissionSelection } from "./Dcbx.ts"
