import { layout, readFields, reservedFaults } from "./Layout.ts"
import { emitPlain } from "./Plain.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** The header of a management datagram (IBTA 1.7 §13.4.3). */
export interface Mad {
  /** 0x07 is communication management. */
  readonly managementClass: number
  readonly classVersion: number
  /** 0x03 is Send. The top bit says response. */
  readonly method: number
  readonly status: number
  readonly classSpecific: number
  /** 64 bits: what a request and its answers share. */
  readonly transactionId: bigint
  readonly attribute: number
  readonly modifier: number
}

export const MAD_BYTES = 24
/** Header and data, always. */
export const MAD_PACKET_BYTES = 256
export const ManagementClass = {
  SubnetLid: 0x01,
  SubnetAdministration: 0x03,
  Communication: 0x07,
  SubnetDirected: 0x81,
} as const
export const MAD_METHOD_SEND = 0x03

export const MAD = /* @__PURE__ */ layout(
  "mad",
  "baseVersion:8 managementClass:8 classVersion:8 method:8 status:16 classSpecific:16 transactionId:64 attribute:16 _:16 modifier:32",
)

/** Fails for a base version other than 1, and below 256 octets. */
export const parseMad = (octets: Uint8Array, start = 0, end = octets.length): Parse<Mad> => {
  const short = shortage("mad", octets, start, end, MAD_BYTES)
  if (short !== undefined) return short
  if (octets[start] !== 1) return failed("reserved", "mad", "baseVersion", start, octets[start]!, "1")
  if (start + MAD_PACKET_BYTES > end)
    return failed("length", "mad", "data", start, end - start, `${MAD_PACKET_BYTES} octets`)
  const { baseVersion: _, ...value } = readFields(MAD, octets, start)
  return parsed<Mad>(value, start + MAD_BYTES, start + MAD_PACKET_BYTES, reservedFaults(MAD, octets, start))
}

/** Writes the 24 octets of the header; 232 of data follow. */
export const emitMad = (value: Mad, octets: Uint8Array, start = 0): number =>
  emitPlain(MAD, { baseVersion: 1, ...value }, octets, start)
