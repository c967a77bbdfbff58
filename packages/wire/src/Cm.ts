import * as Layouts from "./cm/Layouts.ts"
import type { CmMessage, CmPath, CmRequest } from "./cm/Message.ts"
import { type FieldsOf, type Layout, readFields, reservedFaults, writeFields } from "./Layout.ts"
import { EmitError, putOctets, space } from "./Octets.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** Octets of every message: the data of a MAD. */
export const CM_BYTES = 232
const PATH_BYTES = 44
const PRIMARY = 52
const ALTERNATE = PRIMARY + PATH_BYTES
const REQUEST_PRIVATE = ALTERNATE + PATH_BYTES
const REQUEST_PRIVATE_BYTES = CM_BYTES - REQUEST_PRIVATE

type Kind = CmMessage["kind"]
type Plain = Exclude<CmMessage, CmRequest>

/** The attribute of the MAD that announces each message (IBTA 1.7 §16.7.1). */
export const cmAttributes: Readonly<Record<Kind, number>> = {
  request: 0x10,
  messageReceipt: 0x11,
  reject: 0x12,
  reply: 0x13,
  readyToUse: 0x14,
  disconnectRequest: 0x15,
  disconnectReply: 0x16,
  resolveRequest: 0x17,
  resolveReply: 0x18,
}

/** The layout of each message; that of a request ends where its paths begin, each a `CM_PATH`. */
export const cmLayout = (kind: Kind): Layout => {
  switch (kind) {
    case "request":
      return Layouts.CM_REQUEST
    case "messageReceipt":
      return Layouts.CM_DELAY
    case "reject":
      return Layouts.CM_REJECT
    case "reply":
      return Layouts.CM_REPLY
    case "readyToUse":
      return Layouts.CM_READY
    case "disconnectRequest":
      return Layouts.CM_DISCONNECT_REQUEST
    case "disconnectReply":
      return Layouts.CM_DISCONNECT_REPLY
    case "resolveRequest":
      return Layouts.CM_RESOLVE_REQUEST
    case "resolveReply":
      return Layouts.CM_RESOLVE_REPLY
  }
}

const kindOf = (attribute: number): Kind | undefined =>
  (Object.keys(cmAttributes) as ReadonlyArray<Kind>).find((kind) => cmAttributes[kind] === attribute)

/** Reads the data of a MAD of class 7 with this attribute. Path messages (LAP, APR) are `unsupported`. */
export const parseCm = (attribute: number, octets: Uint8Array, start = 0, end = octets.length): Parse<CmMessage> => {
  const kind = kindOf(attribute)
  if (kind === undefined) return failed("unsupported", "cm", "attribute", start, attribute)
  const layout = cmLayout(kind)
  const short = shortage(layout.format, octets, start, end, CM_BYTES)
  if (short !== undefined) return short
  const faults = reservedFaults(layout, octets, start)
  const headerEnd = start + CM_BYTES
  if (kind !== "request") {
    const value = { kind, ...readFields(layout, octets, start) } as unknown as Plain
    return parsed<CmMessage>(value, headerEnd, headerEnd, faults)
  }
  const primary = readPath(octets, start + PRIMARY)
  const value: CmRequest = {
    kind,
    ...readFields(Layouts.CM_REQUEST, octets, start),
    primary,
    alternate: isEmpty(octets, start + ALTERNATE) ? undefined : readPath(octets, start + ALTERNATE),
    privateData: octets.subarray(start + REQUEST_PRIVATE, headerEnd),
  }
  const pathFaults = [PRIMARY, ALTERNATE].flatMap((at) => reservedFaults(Layouts.CM_PATH, octets, start + at))
  return parsed<CmMessage>(value, headerEnd, headerEnd, [...faults, ...pathFaults])
}

const readPath = (octets: Uint8Array, start: number): CmPath => readFields(Layouts.CM_PATH, octets, start)

const isEmpty = (octets: Uint8Array, start: number): boolean =>
  octets.subarray(start, start + PATH_BYTES).every((octet) => octet === 0)

/** Writes the 232 octets of the message. */
export const emitCm = (value: CmMessage, octets: Uint8Array, start = 0): number => {
  const layout = cmLayout(value.kind)
  space(octets, start, CM_BYTES, layout.format)
  // The layout is the one of the kind, so its fields are those of the message.
  writeFields(layout, value as unknown as FieldsOf<string>, octets, start)
  if (value.kind === "request") {
    writeFields(Layouts.CM_PATH, value.primary, octets, start + PRIMARY)
    octets.fill(0, start + ALTERNATE, start + REQUEST_PRIVATE)
    if (value.alternate !== undefined) writeFields(Layouts.CM_PATH, value.alternate, octets, start + ALTERNATE)
    if (value.alternate !== undefined && isEmpty(octets, start + ALTERNATE))
      throw new EmitError("cmRequest", "alternate", 0, "a path, or undefined for none")
    putOctets(octets, start + REQUEST_PRIVATE, value.privateData, REQUEST_PRIVATE_BYTES, "cmRequest", "privateData")
  }
  return start + CM_BYTES
}

/** Private data filled with zeros to the length that a message has for it. */
export const cmPrivateData = (data: Uint8Array, bytes: number): Uint8Array => {
  if (data.length > bytes) throw new EmitError("cm", "privateData", data.length, `${bytes} octets at most`)
  const filled = new Uint8Array(bytes)
  filled.set(data)
  return filled
}

export * from "./cm/IpCm.ts"
export * from "./cm/Layouts.ts"
export type * from "./cm/Message.ts"
export { rejectReason } from "./cm/RejectReason.ts"
