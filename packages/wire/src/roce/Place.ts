import { EtherType, isVlanTag } from "../Ethernet.ts"
import { IPV4_BYTES, IpProtocol } from "../Ipv4.ts"
import { IPV6_BYTES } from "../Ipv6.ts"
import { BTH_BYTES } from "../infiniband/Bth.ts"
import { GRH_BYTES, GRH_NEXT_BTH } from "../infiniband/Grh.ts"
import { LRH_BYTES } from "../infiniband/Lrh.ts"
import { ICRC_BYTES } from "../infiniband/Transport.ts"
import { u16 } from "../Octets.ts"
import { ROCE_PORT, UDP_BYTES } from "../Udp.ts"
import type { Carrier, IcrcPlace } from "./Icrc.ts"

const TRANSPORT_BYTES_MIN = BTH_BYTES + ICRC_BYTES

const placeAt = (carrier: Carrier, header: number, bth: number, transportEnd: number): IcrcPlace | undefined =>
  transportEnd - bth < TRANSPORT_BYTES_MIN ? undefined : { carrier, header, bth, icrc: transportEnd - ICRC_BYTES }

const inUdp = (
  carrier: "ipv4" | "ipv6",
  octets: Uint8Array,
  header: number,
  udp: number,
  end: number,
): IcrcPlace | undefined => {
  if (u16(octets, udp + 2) !== ROCE_PORT) return undefined
  const udpEnd = udp + u16(octets, udp + 4)
  return udpEnd > end ? undefined : placeAt(carrier, header, udp + UDP_BYTES, udpEnd)
}

/** RoCEv2 in a packet of IPv4 that is no fragment. */
const inIpv4 = (octets: Uint8Array, at: number, end: number): IcrcPlace | undefined => {
  const first = octets[at]!
  const udp = at + (first & 15) * 4
  if (first >> 4 !== 4 || udp < at + IPV4_BYTES || udp + UDP_BYTES > octets.length) return undefined
  if (octets[at + 9] !== IpProtocol.Udp) return undefined
  if ((u16(octets, at + 6) & 0x3fff) !== 0) return undefined
  const ipEnd = at + u16(octets, at + 2)
  return ipEnd > end ? undefined : inUdp("ipv4", octets, at, udp, ipEnd)
}

/** RoCEv2 in a packet of IPv6 without extension headers. */
const inIpv6 = (octets: Uint8Array, at: number, end: number): IcrcPlace | undefined => {
  const udp = at + IPV6_BYTES
  if (octets[at]! >> 4 !== 6 || octets[at + 6] !== IpProtocol.Udp || udp + UDP_BYTES > octets.length) return undefined
  const ipEnd = udp + u16(octets, at + 4)
  return ipEnd > end ? undefined : inUdp("ipv6", octets, at, udp, ipEnd)
}

const inGrh = (
  carrier: "rocev1" | "global",
  octets: Uint8Array,
  header: number,
  grh: number,
  end: number,
): IcrcPlace | undefined => {
  if (octets[grh]! >> 4 !== 6 || octets[grh + 6] !== GRH_NEXT_BTH) return undefined
  const bth = grh + GRH_BYTES
  const grhEnd = bth + u16(octets, grh + 4)
  return grhEnd > end ? undefined : placeAt(carrier, header, bth, grhEnd)
}

/** Checked once, so that reading the places that a packet may have needs no check of its own. */
const isThere = (octets: Uint8Array, bth: number): boolean => bth + BTH_BYTES <= octets.length

const checked = (octets: Uint8Array, place: IcrcPlace | undefined): IcrcPlace | undefined =>
  place !== undefined && isThere(octets, place.bth) ? place : undefined

/** The place of the ICRC in a packet of IP; undefined when it is not RoCEv2, or a fragment of it. */
export const placeInIp = (octets: Uint8Array, start = 0, end = octets.length): IcrcPlace | undefined =>
  checked(octets, octets[start]! >> 4 === 6 ? inIpv6(octets, start, end) : inIpv4(octets, start, end))

/**
 * The place of the ICRC in an Ethernet frame with any number of tags, without a copy or a check of anything else;
 * undefined when it is not RoCE. `end` is where the frame ends on the wire, and may lie past a capture that was cut.
 * Tunnels are not followed: `decode` does that.
 */
export const placeInEthernet = (octets: Uint8Array, start = 0, end = octets.length): IcrcPlace | undefined => {
  let at = start + 12
  let type = u16(octets, at)
  while (isVlanTag(type) && at + 6 <= octets.length) {
    at += 4
    type = u16(octets, at)
  }
  at += 2
  if (type === EtherType.Ipv4) return checked(octets, inIpv4(octets, at, end))
  if (type === EtherType.Ipv6) return checked(octets, inIpv6(octets, at, end))
  return type === EtherType.RoceV1 ? checked(octets, inGrh("rocev1", octets, at, at, end)) : undefined
}

/** The place of the ICRC in a native packet that starts with its LRH; undefined when that has none. */
export const placeInInfiniband = (octets: Uint8Array, start = 0, end = octets.length): IcrcPlace | undefined => {
  const next = octets[start + 1]! & 3
  const linkEnd = start + 4 * (u16(octets, start + 4) & 0x7ff)
  if (next < 2 || linkEnd > end) return undefined
  const after = start + LRH_BYTES
  const place = next === 2 ? placeAt("local", start, after, linkEnd) : inGrh("global", octets, start, after, linkEnd)
  return checked(octets, place)
}
