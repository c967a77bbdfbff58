import { layout } from "./Layout.ts"
import { EmitError, put16, put48, space, u16, u48, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** Which tag: 802.1Q, 802.1ad (the outer one of QinQ), and what was used for the outer one before it. */
export type TagProtocol = 0x8100 | 0x88a8 | 0x9100

export interface VlanTag {
  readonly protocol: TagProtocol
  /** Priority code point, 0 to 7. */
  readonly priority: number
  readonly dropEligible: boolean
  /** 0 (priority alone) to 4,095. */
  readonly vlan: number
}

/** Ethernet II with up to four tags (IEEE 802.3 §3, 802.1Q §9), or an 802.3 frame with a length. */
export interface Ethernet {
  /** 48 bits. */
  readonly destination: number
  readonly source: number
  /** Outermost first. */
  readonly tags: ReadonlyArray<VlanTag>
  /** From 0x600 what follows; up to 1,500 the octets of an LLC payload. */
  readonly etherType: number
}

export const ETHERNET_BYTES = 14
/** A frame without its FCS is padded to this. */
export const ETHERNET_FRAME_BYTES_MIN = 60
const TAG_BYTES = 4
const TAGS_MAX = 4
const LENGTH_MAX = 1500
const TYPE_MIN = 0x600

export const EtherType = {
  Ipv4: 0x0800,
  Arp: 0x0806,
  TransparentBridging: 0x6558,
  Ipv6: 0x86dd,
  MacControl: 0x8808,
  RoceV1: 0x8915,
  Lldp: 0x88cc,
} as const

export const ETHERNET = /* @__PURE__ */ layout("ethernet", "destination:48 source:48 etherType:16")
export const VLAN_TAG = /* @__PURE__ */ layout("vlan", "protocol:16 priority:3 dropEligible:1 vlan:12")

/** Whether a tag follows, and not the payload. */
export const isVlanTag = (type: number): type is TagProtocol => type === 0x8100 || type === 0x88a8 || type === 0x9100

export const ethernetBytes = (value: Ethernet): number => ETHERNET_BYTES + TAG_BYTES * value.tags.length

/**
 * The payload of an Ethernet II frame ends where the frame does, padding included; that of an 802.3 frame at its length.
 * Fails when the type is 1,501 to 1,535, or a length is past `end`.
 */
export const parseEthernet = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ethernet> => {
  const tags: Array<VlanTag> = []
  let bytes = ETHERNET_BYTES
  for (;;) {
    const short = shortage("ethernet", octets, start, end, bytes)
    if (short !== undefined) return short
    const at = start + bytes - 2
    const etherType = u16(octets, at)
    if (!isVlanTag(etherType)) {
      const value = { destination: u48(octets, start), source: u48(octets, start + 6), tags, etherType }
      if (etherType >= TYPE_MIN) return parsed(value, start + bytes, end)
      if (etherType > LENGTH_MAX) return failed("reserved", "ethernet", "etherType", at, etherType)
      const room = end - start - bytes
      return etherType > room
        ? failed("length", "ethernet", "etherType", at, etherType, `${room} at most`)
        : parsed(value, start + bytes, start + bytes + etherType)
    }
    if (tags.length === TAGS_MAX) return failed("value", "ethernet", "tags", at, TAGS_MAX + 1, `${TAGS_MAX} at most`)
    bytes += TAG_BYTES
    const short2 = shortage("ethernet", octets, start, end, bytes)
    if (short2 !== undefined) return short2
    const control = u16(octets, at + 2)
    tags.push({
      protocol: etherType,
      priority: control >> 13,
      dropEligible: (control & 0x1000) !== 0,
      vlan: control & 0xfff,
    })
  }
}

export const emitEthernet = (value: Ethernet, octets: Uint8Array, start = 0): number => {
  space(octets, start, ethernetBytes(value), "ethernet")
  if (value.tags.length > TAGS_MAX) throw new EmitError("ethernet", "tags", value.tags.length, `${TAGS_MAX} at most`)
  if (isVlanTag(value.etherType) || (value.etherType > LENGTH_MAX && value.etherType < TYPE_MIN))
    throw new EmitError("ethernet", "etherType", value.etherType, "a length up to 1500, or a type of no tag from 0x600")
  put48(octets, start, uint(value.destination, 48, "ethernet", "destination"))
  put48(octets, start + 6, uint(value.source, 48, "ethernet", "source"))
  let at = start + 12
  for (const tag of value.tags) {
    const control = (uint(tag.priority, 3, "vlan", "priority") << 13) | uint(tag.vlan, 12, "vlan", "vlan")
    put16(octets, at, tag.protocol)
    put16(octets, at + 2, control | (tag.dropEligible ? 0x1000 : 0))
    at += TAG_BYTES
  }
  put16(octets, at, uint(value.etherType, 16, "ethernet", "etherType"))
  return at + 2
}
