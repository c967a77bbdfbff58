import { type CmReject, cmPrivateData } from "@rdmakit/wire/cm"
import { privateDataOf } from "./MadOctets.ts"

/** Reasons of a reject that this machine gives (IBTA 1.7 §12.6.7.2); `rejectReason` of `@rdmakit/wire/cm` has them all. */
export const RejectCode = {
  Timeout: 4,
  InvalidServiceId: 8,
  InvalidTransport: 9,
  StaleConnection: 10,
  PrimaryGid: 12,
  InvalidMtu: 26,
  Consumer: 28,
} as const

/** What is rejected. */
export const Rejected = { Request: 0, Reply: 1, Other: 2 } as const

const INFORMATION_BYTES = 72
const NONE = new Uint8Array(0)

export const rejectOf = (
  localId: number,
  remoteId: number,
  message: number,
  reason: number,
  information: Uint8Array = NONE,
  privateData?: Uint8Array,
): CmReject => ({
  kind: "reject",
  localId,
  remoteId,
  message,
  reason,
  informationBytes: information.length,
  information: cmPrivateData(information, INFORMATION_BYTES),
  privateData: privateDataOf("reject", privateData),
})

/** What a reject for a timeout says besides: the GUID of who gave up (IBTA 1.7 §12.6.7.2). */
export const guidOctets = (guid: bigint): Uint8Array => {
  const octets = new Uint8Array(8)
  new DataView(octets.buffer).setBigUint64(0, guid)
  return octets
}
