import { ipv4OfNode, isMapped, macOfNode, nodeOfIpv4, nodeOfMac } from "@rdmakit/codec"
import type { GidEntry } from "@rdmakit/protocol"

const GID_OCTETS = 16
const MAPPED_AT = 10
const IPV4_AT = 12

/** The IPv4 address of a node, 11.h.l.1, mapped (RFC 4291 §2.5.5.2): GID 1 of its port. */
const mappedGid = (node: number): Uint8Array => {
  const gid = new Uint8Array(GID_OCTETS)
  gid.fill(0xff, MAPPED_AT, IPV4_AT)
  new DataView(gid.buffer).setUint32(IPV4_AT, ipv4OfNode(node))
  return gid
}

/** The link-local address made of a node's MAC address (RFC 4291 §2.5.1, appendix A): GID 0 of its port. */
const linkLocalGid = (node: number): Uint8Array => {
  const mac = macOfNode(node)
  const gid = new Uint8Array(GID_OCTETS)
  const view = new DataView(gid.buffer)
  view.setUint16(0, 0xfe80)
  view.setUint16(8, Math.floor(mac / 2 ** 32) ^ 0x0200)
  view.setUint16(10, ((Math.floor(mac / 2 ** 24) & 0xff) << 8) | 0xff)
  view.setUint16(12, 0xfe00 | (Math.floor(mac / 2 ** 16) & 0xff))
  view.setUint16(14, mac & 0xffff)
  return gid
}

/** GIDs of a node's port in the order of Linux's table: the link-local one first. */
export const gidsOfNode = (node: number): ReadonlyArray<GidEntry> => [
  { index: 0, gid: linkLocalGid(node), type: "rocev2" },
  { index: 1, gid: mappedGid(node), type: "rocev2" },
]

/** ff00::/8, or 224.0.0.0/4 mapped (rdma_is_multicast_addr). */
export const isMulticast = (gid: Uint8Array): boolean => gid[0] === 0xff || (isMapped(gid) && gid[IPV4_AT]! >> 4 === 14)

/** The node of an address; undefined: it is none's. */
export const nodeOfGid = (gid: Uint8Array): number | undefined => {
  if (gid.length !== GID_OCTETS) return undefined
  const view = new DataView(gid.buffer, gid.byteOffset, GID_OCTETS)
  if (isMapped(gid)) return nodeOfIpv4(view.getUint32(IPV4_AT))
  if (view.getUint32(0) !== 0xfe800000 || view.getUint32(4) !== 0) return undefined
  if (view.getUint8(11) !== 0xff || view.getUint8(12) !== 0xfe) return undefined
  const upper = ((view.getUint16(8) ^ 0x0200) * 256 + view.getUint8(10)) * 2 ** 24
  return nodeOfMac(upper + view.getUint8(13) * 2 ** 16 + view.getUint16(14))
}

/** A GID as a key of maps. */
export const gidKey = (gid: Uint8Array): string => {
  let key = ""
  for (const octet of gid) key += octet.toString(16).padStart(2, "0")
  return key
}
