import { CM_BYTES, type CmMessage, cmAttributes, cmPrivateData, emitCm } from "@rdmakit/wire/cm"
import { emitMad, MAD_BYTES, MAD_METHOD_SEND, MAD_PACKET_BYTES, type Mad, ManagementClass } from "@rdmakit/wire/mad"

/** Class version of communication management (IBTA vol. 1, ch. 16). */
export const CM_CLASS_VERSION = 2

const header = (transactionId: bigint, attribute: number): Mad => ({
  managementClass: ManagementClass.Communication,
  classVersion: CM_CLASS_VERSION,
  method: MAD_METHOD_SEND,
  status: 0,
  classSpecific: 0,
  transactionId,
  attribute,
  modifier: 0,
})

/** The 256 octets of a message. Throws an `EmitError` for a value out of its range. */
export const madOf = (transactionId: bigint, message: CmMessage): Uint8Array => {
  const octets = new Uint8Array(MAD_PACKET_BYTES)
  emitCm(message, octets, emitMad(header(transactionId, cmAttributes[message.kind]), octets))
  return octets
}

/** The same message as an answer in another exchange. */
export const withTransaction = (octets: Uint8Array, transactionId: bigint): Uint8Array => {
  const again = octets.slice()
  new DataView(again.buffer).setBigUint64(8, transactionId)
  return again
}

const NONE = new Uint8Array(0)

/** Octets of private data that each message has room for (IBTA 1.7 §12.6). */
const privateBytes = {
  request: 92,
  messageReceipt: 222,
  reject: 148,
  reply: 196,
  readyToUse: 224,
  disconnectRequest: 220,
  disconnectReply: 224,
  resolveRequest: 216,
  resolveReply: 136,
} as const satisfies Readonly<Record<CmMessage["kind"], number>>

/** What the program gave, filled with zeros. Throws an `EmitError` when it is too long. */
export const privateDataOf = (kind: CmMessage["kind"], data: Uint8Array | undefined): Uint8Array =>
  cmPrivateData(data ?? NONE, privateBytes[kind])

export const MESSAGE_START = MAD_BYTES
export const MESSAGE_END = MAD_BYTES + CM_BYTES
