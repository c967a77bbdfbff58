import { ERDMA_MPA_BYTES, ERDMA_MPA_REVISION, emitErdmaMpa, parseErdmaMpa } from "@rdmakit/wire/erdma"
import { emitMpa, MPA_BYTES, MPA_PRIVATE_BYTES_MAX, parseMpa } from "@rdmakit/wire/mpa"
import type { MpaParameters, MpaReason } from "./Parameters.ts"

const REVISION_AT = 17
const LENGTH_AT = 18
const ENHANCED_BYTES = 4

/** An opening frame, in either dialect. */
export interface OpeningFrame {
  readonly kind: "request" | "reply"
  readonly rejected: boolean
  readonly parameters: MpaParameters
  /** eRDMA alone: it asks for markers or CRCs, which the device has not. */
  readonly impossible: boolean
  readonly privateData: Uint8Array
}

/** How many octets of private data fit. */
export const privateBytesMax = (parameters: MpaParameters): number =>
  parameters.dialect === "iwarp" && parameters.enhanced !== undefined
    ? MPA_PRIVATE_BYTES_MAX - ENHANCED_BYTES
    : MPA_PRIVATE_BYTES_MAX

export const emitFrame = (
  kind: "request" | "reply",
  parameters: MpaParameters,
  rejected: boolean,
  privateData: Uint8Array,
): Uint8Array => {
  if (parameters.dialect === "erdma") {
    const octets = new Uint8Array(ERDMA_MPA_BYTES + privateData.length)
    const { cookie, congestionControl } = parameters
    emitErdmaMpa({ kind, markers: false, crc: false, rejected, cookie, congestionControl, privateData }, octets)
    return octets
  }
  const { markers, crc, enhanced } = parameters
  const revision = enhanced === undefined ? 1 : 2
  const bytes = MPA_BYTES + (enhanced === undefined ? 0 : ENHANCED_BYTES) + privateData.length
  const octets = new Uint8Array(bytes)
  emitMpa({ kind, markers, crc, rejected, revision, enhanced, privateData }, octets)
  return octets
}

/** What the first octets of a stream are. */
export type Opening =
  /** Not enough of them yet. */
  | { readonly type: "incomplete" }
  | { readonly type: "wrong"; readonly reason: MpaReason; readonly message: string }
  | { readonly type: "frame"; readonly frame: OpeningFrame; readonly bytes: number }

/** Reads the frame that a stream opens with, in the dialect that this side speaks. */
export const readFrame = (octets: Uint8Array, dialect: MpaParameters["dialect"]): Opening => {
  const header = dialect === "erdma" ? ERDMA_MPA_BYTES : MPA_BYTES
  if (octets.length >= LENGTH_AT) {
    const revision = octets[REVISION_AT]!
    const right = dialect === "erdma" ? revision === ERDMA_MPA_REVISION : revision === 1 || revision === 2
    if (!right) return { type: "wrong", reason: "revision", message: `the peer speaks revision ${revision} of MPA` }
  }
  if (octets.length < header) return { type: "incomplete" }
  const privateBytes = (octets[LENGTH_AT]! << 8) | octets[LENGTH_AT + 1]!
  if (privateBytes <= MPA_PRIVATE_BYTES_MAX && octets.length < header + privateBytes) return { type: "incomplete" }
  if (dialect === "erdma") {
    const parsed = parseErdmaMpa(octets)
    if (!parsed.ok) return wrongFormat(parsed.error.field)
    const { cookie, congestionControl, kind, rejected, privateData, markers, crc } = parsed.value
    const parameters = { dialect, cookie, congestionControl } as const
    const frame = { kind, rejected, parameters, impossible: markers || crc, privateData: privateData.slice() }
    return { type: "frame", frame, bytes: parsed.payloadStart }
  }
  const parsed = parseMpa(octets)
  if (!parsed.ok) return wrongFormat(parsed.error.field)
  const { kind, rejected, privateData, markers, crc, enhanced } = parsed.value
  const parameters = { dialect, markers, crc, enhanced } as const
  const frame = { kind, rejected, parameters, impossible: false, privateData: privateData.slice() }
  return { type: "frame", frame, bytes: parsed.payloadStart }
}

const wrongFormat = (field: string): Opening => ({
  type: "wrong",
  reason: "format",
  message: `the stream does not open with a frame of MPA: ${field}`,
})
