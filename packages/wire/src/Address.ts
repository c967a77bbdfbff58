import { EmitError, put16, put32, u16, u32, uint } from "./Octets.ts"

const GID_BYTES = 16
const MAPPED = 0xffff

/** `52:54:00:00:00:01` of 48 bits. */
export const formatMac = (mac: number): string =>
  uint(mac, 48, "address", "mac").toString(16).padStart(12, "0").match(/../g)!.join(":")

/** 48 bits of `52:54:00:00:00:01` or with dashes; undefined when it is none. */
export const parseMac = (text: string): number | undefined =>
  /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(text) ? Number.parseInt(text.replaceAll(/[:-]/g, ""), 16) : undefined

/** `10.0.0.1` of 32 bits. */
export const formatIpv4 = (address: number): string =>
  [24, 16, 8, 0].map((shift) => (uint(address, 32, "address", "ipv4") >>> shift) & 255).join(".")

/** 32 bits of `10.0.0.1`; undefined when it is none. */
export const parseIpv4Address = (text: string): number | undefined => {
  if (!/^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$/.test(text)) return undefined
  const parts = text.split(".").map(Number)
  return parts.some((part) => part > 255) ? undefined : parts.reduce((address, part) => address * 256 + part, 0)
}

/** The 16-octet GID or IPv6 address of an IPv4 address, `::ffff:10.0.0.1` (RFC 4291 §2.5.5.2): RoCEv2's over IPv4. */
export const mappedGid = (ipv4: number): Uint8Array => {
  const gid = new Uint8Array(GID_BYTES)
  put16(gid, 10, MAPPED)
  put32(gid, 12, uint(ipv4, 32, "address", "ipv4"))
  return gid
}

/** The IPv4 address of a mapped GID; undefined when it is none. */
export const ipv4OfGid = (gid: Uint8Array): number | undefined => {
  const mapped =
    gid.length === GID_BYTES && u16(gid, 10) === MAPPED && gid.subarray(0, 10).every((octet) => octet === 0)
  return mapped ? u32(gid, 12) : undefined
}

/** Sixteen octets in the form of RFC 5952: `fd00::1`, `::ffff:10.0.0.1`. */
export const formatIpv6 = (address: Uint8Array): string => {
  if (address.length !== GID_BYTES) throw new EmitError("address", "ipv6", address.length, "16 octets")
  const ipv4 = ipv4OfGid(address)
  if (ipv4 !== undefined) return `::ffff:${formatIpv4(ipv4)}`
  const groups = Array.from({ length: 8 }, (_, group) => u16(address, 2 * group))
  const [start, length] = longestZeros(groups)
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((each) => each.toString(16))
      .join(":")
  return length < 2 ? text(0, 8) : `${text(0, start)}::${text(start + length, 8)}`
}

/** The first of the longest runs of zeros: where it starts and how long it is. */
const longestZeros = (groups: ReadonlyArray<number>): readonly [start: number, length: number] => {
  let best: readonly [number, number] = [0, 0]
  let length = 0
  groups.forEach((group, index) => {
    length = group === 0 ? length + 1 : 0
    if (length > best[1]) best = [index + 1 - length, length]
  })
  return best
}

/** Sixteen octets of any form of RFC 4291 §2.2; undefined when it is none. */
export const parseIpv6Address = (text: string): Uint8Array | undefined => {
  const halves = text.split("::")
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1))
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  const after = tail ?? []
  const missing = 8 - head.length - after.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const address = new Uint8Array(GID_BYTES)
  const groups = [...head, ...new Array<number>(missing).fill(0), ...after]
  groups.forEach((group, index) => {
    put16(address, 2 * index, group)
  })
  return address
}

const groupsOf = (text: string, last: boolean): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const groups: Array<number> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else {
      const ipv4 = last && index === parts.length - 1 ? parseIpv4Address(part) : undefined
      if (ipv4 === undefined) return undefined
      groups.push(ipv4 >>> 16, ipv4 & 0xffff)
    }
  }
  return groups
}
