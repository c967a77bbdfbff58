import { ipv4OfGid, mappedGid, parseIpv4Address, parseIpv6Address } from "@rdmakit/wire/address"
import { SoftnicError } from "./SoftnicError.ts"

const BROADCAST_IPV4 = 0xffff_ffff

/** An address of this port, and how many of its leading bits name the network that it is on. */
export interface PortAddress {
  /** 16 octets; IPv4 mapped. */
  readonly gid: Uint8Array
  /** Of the 128 bits. */
  readonly prefixBits: number
}

/** 16 octets of an address in words, an IPv4 one mapped, and without a zone (`%eth0`); undefined: it is none. */
export const gidOf = (text: string): Uint8Array | undefined => {
  const zone = text.indexOf("%")
  const plain = zone < 0 ? text : text.slice(0, zone)
  const ipv4 = parseIpv4Address(plain)
  return ipv4 === undefined ? parseIpv6Address(plain) : mappedGid(ipv4)
}

/**
 * 16 octets of an address that one host can have, an IPv4 one mapped; undefined: it is none, a group's, 0.0.0.0, :: or
 * 255.255.255.255.
 */
export const hostGid = (text: string): Uint8Array | undefined => {
  const gid = gidOf(text)
  if (gid === undefined || isGroup(gid)) return undefined
  const ipv4 = ipv4OfGid(gid)
  const isOne = ipv4 === undefined ? gid.some((octet) => octet !== 0) : ipv4 !== 0 && ipv4 !== BROADCAST_IPV4
  return isOne ? gid : undefined
}

/** `10.0.0.1/24` or `fd00::1/64`; without a length, the address alone. @throws SoftnicError */
export const parsePortAddress = (text: string): PortAddress => {
  const [address, length, ...more] = text.split("/")
  const gid = hostGid(address ?? "")
  const wide = gid !== undefined && ipv4OfGid(gid) === undefined
  const most = wide ? 128 : 32
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  if (gid === undefined || !(bits <= most) || more.length > 0) {
    throw new SoftnicError("addresses", text, "an address with its network's length, as 10.0.0.1/24 or fd00::1/64")
  }
  return { gid, prefixBits: wide ? bits : 96 + bits }
}

/** Whether two addresses are on one network. */
export const sameNetwork = (a: Uint8Array, b: Uint8Array, bits: number): boolean => {
  const whole = bits >> 3
  for (let at = 0; at < whole; at++) if (a[at] !== b[at]) return false
  const rest = bits & 7
  return rest === 0 || (a[whole]! ^ b[whole]!) >> (8 - rest) === 0
}

/** The link-local address of a MAC (RFC 4291 §2.5.6, appendix A). @param mac 48 bits */
export const linkLocalGid = (mac: number): Uint8Array => {
  const gid = new Uint8Array(16)
  gid[0] = 0xfe
  gid[1] = 0x80
  const octet = (index: number): number => Math.floor(mac / 256 ** (5 - index)) % 256
  gid.set([octet(0) ^ 2, octet(1), octet(2), 0xff, 0xfe, octet(3), octet(4), octet(5)], 8)
  return gid
}

/** Whether an address is a group's: 224.0.0.0/4 mapped, or ff00::/8. */
export const isGroup = (gid: Uint8Array): boolean => {
  const ipv4 = ipv4OfGid(gid)
  return ipv4 === undefined ? gid[0] === 0xff : ipv4 >>> 28 === 14
}

const IPV4_GROUPS = 0x0100_5e00_0000
const IPV6_GROUPS = 0x3333_0000_0000

/** The MAC of a group (RFC 1112 §6.4, RFC 2464 §7). */
export const groupMac = (gid: Uint8Array): number => {
  const low = ((gid[12]! << 24) | (gid[13]! << 16) | (gid[14]! << 8) | gid[15]!) >>> 0
  return ipv4OfGid(gid) === undefined ? IPV6_GROUPS + low : IPV4_GROUPS + (low & 0x7f_ffff)
}
