/** Addresses of hosts, as flags say them. */
import { hostGid } from "@rdmakit/softnic"
import { ipv4OfGid } from "@rdmakit/wire/address"

export interface HostAndPort {
  readonly host: string
  readonly port: number
}

const PORT_MAX = 65_535
const IPV4_BITS = 32
const IPV6_BITS = 128

/** A port in digits; undefined: there is none of that number. @param least 0 where the system may choose one, else 1 */
export const portOf = (digits: string, least: 0 | 1): number | undefined => {
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : Number.NaN
  return port >= least && port <= PORT_MAX ? port : undefined
}

/** Whether a socket of this address is one of IPv6. */
export const isV6 = (host: string): boolean => host.includes(":")

/** `10.0.0.1` of `10.0.0.1/24`; undefined: no port can have it. */
export const withoutLength = (text: string): string | undefined => {
  const [, address = "", length = "0"] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const gid = hostGid(address)
  if (gid === undefined || Number(length) > (ipv4OfGid(gid) === undefined ? IPV6_BITS : IPV4_BITS)) return undefined
  return address
}

/** `10.0.0.1:4791` or `[fd00::1]:4791`; what it is not, in words. @param least of the ports */
export const hostAndPort = (text: string, least: 0 | 1): HostAndPort | string => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text) ?? []
  if (digits === undefined) return "HOST:PORT"
  const host = (bracketed ?? plain)!
  if (hostGid(host) === undefined) return "the address of one host, as 127.0.0.1:4791 or [fd00::1]:4791"
  const port = portOf(digits, least)
  return port === undefined ? `a port ${least}..${PORT_MAX}` : { host, port }
}
