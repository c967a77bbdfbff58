import { type Crc, crc32 } from "../crc/Crc32.ts"
import { BTH_BYTES } from "../infiniband/Bth.ts"
import { LRH_BYTES } from "../infiniband/Lrh.ts"
import { ICRC_BYTES } from "../infiniband/Transport.ts"
import { put32le, u32le } from "../Octets.ts"
import { UDP_BYTES } from "../Udp.ts"

/**
 * What carries a BTH, which decides what its invariant CRC covers (IBTA 1.7 §7.8.1, §A16.4.1, §A17.3.3): RoCEv2 over IPv4
 * or IPv6, RoCEv1, native InfiniBand without and with a GRH.
 */
export type Carrier = "ipv4" | "ipv6" | "rocev1" | "local" | "global"

/** Where the invariant CRC of a packet is and what it covers; offsets from the start of the array. */
export interface IcrcPlace {
  readonly carrier: Carrier
  /** The first octet of the IP header, of the GRH in RoCEv1, of the LRH in InfiniBand. */
  readonly header: number
  readonly bth: number
  /** The first octet of the ICRC. */
  readonly icrc: number
}

const IPV4_BYTES_MAX = 60
/** Eight ones for the LRH, the longest IP header, UDP, BTH. */
const HEADERS_BYTES_MAX = LRH_BYTES + IPV4_BYTES_MAX + UDP_BYTES + BTH_BYTES

/** Sets what changes on the way, in an IPv6 header or a GRH: traffic class, flow label, hop limit. */
const maskGlobal = (octets: Uint8Array, at: number): void => {
  octets[at]! |= 0x0f
  octets[at + 1] = 0xff
  octets[at + 2] = 0xff
  octets[at + 3] = 0xff
  octets[at + 7] = 0xff
}

const copy = (from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void => {
  for (let index = start; index < end; index++) to[at + index - start] = from[index]!
}

/** Writes the headers up to and with the BTH as the CRC sees them: what changes on the way is all ones. */
const maskHeaders = (octets: Uint8Array, place: IcrcPlace, out: Uint8Array): number => {
  const { carrier, header, bth } = place
  const native = carrier === "local" || carrier === "global"
  const from = native ? 0 : LRH_BYTES
  if (!native) out.fill(0xff, 0, LRH_BYTES)
  copy(octets, header, bth + BTH_BYTES, out, from)
  const end = from + bth + BTH_BYTES - header
  if (carrier === "local") {
    // The virtual lane.
    out[0]! |= 0xf0
  } else if (carrier === "global") {
    out.fill(0xff, 0, LRH_BYTES)
    maskGlobal(out, LRH_BYTES)
  } else if (carrier === "ipv4") {
    // Type of service, time to live, header checksum.
    out[from + 1] = 0xff
    out[from + 8] = 0xff
    out[from + 10] = 0xff
    out[from + 11] = 0xff
  } else maskGlobal(out, from)
  if (carrier === "ipv4" || carrier === "ipv6") {
    // The checksum of UDP, just before the BTH.
    out[end - BTH_BYTES - 2] = 0xff
    out[end - BTH_BYTES - 1] = 0xff
  }
  // FECN, BECN and the six reserved bits.
  out[end - BTH_BYTES + 4] = 0xff
  return end
}

const scratch = /* @__PURE__ */ new Uint8Array(HEADERS_BYTES_MAX)

/**
 * The invariant CRC that a packet should carry. Every octet before `place.icrc` has to be there. `crc` is `crc32`, of this
 * package or of its `/node`.
 */
export const icrcOf = (octets: Uint8Array, place: IcrcPlace, crc: Crc = crc32): number => {
  const end = maskHeaders(octets, place, scratch)
  return crc(octets, place.bth + BTH_BYTES, place.icrc, crc(scratch, 0, end))
}

/** The invariant CRC that a packet carries: the one field that is sent lowest octet first. */
export const readIcrc: (octets: Uint8Array, at: number) => number = u32le

/** Writes it there. */
export const putIcrc: (octets: Uint8Array, at: number, value: number) => void = put32le

/** `cut` when the capture does not have all octets up to the end of the CRC. */
export type CrcVerdict = "right" | "wrong" | "cut"

export const checkIcrc = (octets: Uint8Array, place: IcrcPlace, crc: Crc = crc32): CrcVerdict => {
  if (place.icrc + ICRC_BYTES > octets.length) return "cut"
  return icrcOf(octets, place, crc) === readIcrc(octets, place.icrc) ? "right" : "wrong"
}

/** One run of octets that the invariant CRC takes in. */
export interface IcrcPart {
  /** Where it is in the packet; -1 for the eight ones that stand for an LRH. */
  readonly start: number
  /** As the CRC sees them. */
  readonly octets: Uint8Array
  /** For each octet the bits that are taken as ones, whatever they are. */
  readonly masks: Uint8Array
}

/** What the invariant CRC covers, octet by octet, for people: every octet before `place.icrc` has to be there. */
export const icrcParts = (octets: Uint8Array, place: IcrcPlace): ReadonlyArray<IcrcPart> => {
  const out = new Uint8Array(HEADERS_BYTES_MAX)
  const end = maskHeaders(octets, place, out)
  const nothing = new Uint8Array(place.bth + BTH_BYTES)
  const masked = new Uint8Array(HEADERS_BYTES_MAX)
  maskHeaders(nothing, place, masked)
  const native = place.carrier === "local" || place.carrier === "global"
  const headersAt = native ? 0 : LRH_BYTES
  const parts: Array<IcrcPart> = []
  if (!native) parts.push({ start: -1, octets: out.slice(0, LRH_BYTES), masks: masked.slice(0, LRH_BYTES) })
  parts.push({ start: place.header, octets: out.slice(headersAt, end), masks: masked.slice(headersAt, end) })
  const rest = octets.slice(place.bth + BTH_BYTES, place.icrc)
  parts.push({ start: place.bth + BTH_BYTES, octets: rest, masks: new Uint8Array(rest.length) })
  return parts
}
