import { layout, reservedFaults } from "../Layout.ts"
import { put16, put32, putOctets, space, u16, u32, uint } from "../Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"

/** What IP addressing puts at the start of the private data of a request (IBTA 1.7 §A11.4.1). */
export type IpCm =
  | { readonly version: 4; readonly sourcePort: number; readonly source: number; readonly destination: number }
  | { readonly version: 6; readonly sourcePort: number; readonly source: Uint8Array; readonly destination: Uint8Array }

export const IP_CM_BYTES = 36

export const IP_CM = /* @__PURE__ */ layout(
  "ipCm",
  "majorVersion:4 minorVersion:4 version:4 _:4 sourcePort:16 source:16B destination:16B",
)

const SOURCE = 4
const DESTINATION = 20
/** IPv4 addresses stand in the last four of the sixteen octets. */
const UNUSED_BYTES = 12

/** A fault for the first octet in front of an IPv4 address that is not 0. */
const unusedFault = (field: string, octets: Uint8Array, start: number): ReadonlyArray<WireError> => {
  const at = start + octets.subarray(start, start + UNUSED_BYTES).findIndex((octet) => octet !== 0)
  return at < start ? [] : [wrong("ignored", "ipCm", field, at, octets[at]!, "0")]
}

/** Fails for another version of the format, and for one of IP other than 4 and 6. What follows is the user's own data. */
export const parseIpCm = (octets: Uint8Array, start = 0, end = octets.length): Parse<IpCm> => {
  const short = shortage("ipCm", octets, start, end, IP_CM_BYTES)
  if (short !== undefined) return short
  if (octets[start] !== 0) return failed("reserved", "ipCm", "majorVersion", start, octets[start]!, "0")
  const version = octets[start + 1]! >> 4
  if (version !== 4 && version !== 6) return failed("reserved", "ipCm", "version", start + 1, version, "4 or 6")
  const sourcePort = u16(octets, start + 2)
  const value: IpCm =
    version === 4
      ? {
          version,
          sourcePort,
          source: u32(octets, start + SOURCE + UNUSED_BYTES),
          destination: u32(octets, start + DESTINATION + UNUSED_BYTES),
        }
      : {
          version,
          sourcePort,
          source: octets.slice(start + SOURCE, start + DESTINATION),
          destination: octets.slice(start + DESTINATION, start + IP_CM_BYTES),
        }
  const faults = [...reservedFaults(IP_CM, octets, start)]
  if (version === 4) {
    faults.push(...unusedFault("source", octets, start + SOURCE))
    faults.push(...unusedFault("destination", octets, start + DESTINATION))
  }
  return parsed(value, start + IP_CM_BYTES, end, faults)
}

export const emitIpCm = (value: IpCm, octets: Uint8Array, start = 0): number => {
  space(octets, start, IP_CM_BYTES, "ipCm")
  octets.fill(0, start, start + IP_CM_BYTES)
  octets[start + 1] = value.version << 4
  put16(octets, start + 2, uint(value.sourcePort, 16, "ipCm", "sourcePort"))
  if (value.version === 4) {
    put32(octets, start + SOURCE + UNUSED_BYTES, uint(value.source, 32, "ipCm", "source"))
    put32(octets, start + DESTINATION + UNUSED_BYTES, uint(value.destination, 32, "ipCm", "destination"))
  } else {
    putOctets(octets, start + SOURCE, value.source, 16, "ipCm", "source")
    putOctets(octets, start + DESTINATION, value.destination, 16, "ipCm", "destination")
  }
  return start + IP_CM_BYTES
}

const IP_PREFIX = 0x0000_0000_0100_0000n

/** The service ID of a port: `protocol` is 6 for TCP's port space, 17 for UDP's (IBTA 1.7 §A11.3). */
export const serviceIdOf = (protocol: number, port: number): bigint =>
  IP_PREFIX | (BigInt(uint(protocol, 8, "ipCm", "protocol")) << 16n) | BigInt(uint(port, 16, "ipCm", "port"))

/** The protocol and port of a service ID; undefined when it is none of an IP port. */
export const portOf = (serviceId: bigint): { readonly protocol: number; readonly port: number } | undefined =>
  serviceId >> 24n === IP_PREFIX >> 24n
    ? { protocol: Number((serviceId >> 16n) & 0xffn), port: Number(serviceId & 0xffffn) }
    : undefined
