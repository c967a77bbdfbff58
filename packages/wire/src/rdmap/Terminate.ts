import { DDP_TAGGED_BYTES, DDP_UNTAGGED_BYTES } from "../Ddp.ts"
import { EmitError, put16, putOctets, u16, uint } from "../Octets.ts"
import { type Failed, failed, shortage, type WireError, wrong } from "../Result.ts"

/** Why a stream was ended, and what of the segment that caused it is repeated (RFC 5040 §4.8). */
export interface Terminate {
  /** 0 RDMAP, 1 DDP, 2 the layer below, which is MPA. */
  readonly layer: number
  /** 4 bits, by layer. */
  readonly errorType: number
  readonly errorCode: number
  /** The DDP header of the segment at fault, when it is repeated. */
  readonly segment: TerminatedSegment | undefined
}

export interface TerminatedSegment {
  /** Octets of the DDP segment, when its length is known. */
  readonly bytes: number | undefined
  /** Its DDP header, 14 octets tagged or 18 untagged. */
  readonly header: Uint8Array
  /** What an RDMA READ request has besides, 28 octets. */
  readonly readRequest: Uint8Array | undefined
}

const READ_REQUEST_BYTES = 28
const CONTROL_BYTES = 4
const LENGTH_BYTES = 2
const HAS_LENGTH = 0x8000
const HAS_HEADER = 0x4000
const HAS_REQUEST = 0x2000

export const terminateBytes = ({ segment }: Terminate): number =>
  CONTROL_BYTES +
  (segment === undefined ? 0 : LENGTH_BYTES + segment.header.length + (segment.readRequest?.length ?? 0))

/** What a terminate message has behind its DDP header. */
export const parseTerminate = (
  octets: Uint8Array,
  start: number,
  end: number,
):
  | Failed
  | {
      readonly ok: true
      readonly value: Terminate
      readonly bytes: number
      readonly faults: ReadonlyArray<WireError>
    } => {
  const short = shortage("rdmap", octets, start, end, CONTROL_BYTES)
  if (short !== undefined) return short
  const flags = u16(octets, start + 2)
  const faults: Array<WireError> = []
  const reserved = flags & 0x1fff
  if (reserved !== 0) faults.push(wrong("ignored", "rdmap", "reserved", start + 2, reserved, "0"))
  const causes = { layer: octets[start]! >> 4, errorType: octets[start]! & 15, errorCode: octets[start + 1]! }
  if ((flags & HAS_HEADER) === 0) {
    const extra = flags & (HAS_LENGTH | HAS_REQUEST)
    if (extra !== 0) return failed("value", "rdmap", "headerControl", start + 2, flags >> 13, "the DDP header too")
    return { ok: true, value: { ...causes, segment: undefined }, bytes: CONTROL_BYTES, faults }
  }
  const at = start + CONTROL_BYTES
  const cut = shortage("rdmap", octets, start, end, CONTROL_BYTES + LENGTH_BYTES + 1)
  if (cut !== undefined) return cut
  const headerAt = at + LENGTH_BYTES
  const headerBytes = (octets[headerAt]! & 0x80) !== 0 ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES
  const requestBytes = (flags & HAS_REQUEST) !== 0 ? READ_REQUEST_BYTES : 0
  const bytes = CONTROL_BYTES + LENGTH_BYTES + headerBytes + requestBytes
  const rest = shortage("rdmap", octets, start, end, bytes)
  if (rest !== undefined) return rest
  const hasLength = (flags & HAS_LENGTH) !== 0
  const length = u16(octets, at)
  if (!hasLength && length !== 0) faults.push(wrong("ignored", "rdmap", "segmentBytes", at, length, "0"))
  const requestAt = headerAt + headerBytes
  const segment: TerminatedSegment = {
    bytes: hasLength ? length : undefined,
    header: octets.subarray(headerAt, requestAt),
    readRequest: requestBytes === 0 ? undefined : octets.subarray(requestAt, requestAt + requestBytes),
  }
  return { ok: true, value: { ...causes, segment }, bytes, faults }
}

/** Writes it behind the DDP header; there is room. */
export const emitTerminate = (value: Terminate, octets: Uint8Array, start: number): void => {
  const { segment } = value
  const layer = uint(value.layer, 4, "rdmap", "layer") << 4
  octets[start] = layer | uint(value.errorType, 4, "rdmap", "errorType")
  octets[start + 1] = uint(value.errorCode, 8, "rdmap", "errorCode")
  if (segment === undefined) {
    put16(octets, start + 2, 0)
    return
  }
  const { bytes, header, readRequest } = segment
  const isTagged = header.length > 0 && (header[0]! & 0x80) !== 0
  const expected = isTagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES
  if (header.length !== expected) throw new EmitError("rdmap", "header", header.length, `${expected} octets`)
  const hasLength = bytes === undefined ? 0 : HAS_LENGTH
  put16(octets, start + 2, hasLength | HAS_HEADER | (readRequest === undefined ? 0 : HAS_REQUEST))
  put16(octets, start + 4, uint(bytes ?? 0, 16, "rdmap", "segmentBytes"))
  octets.set(header, start + 6)
  if (readRequest === undefined) return
  putOctets(octets, start + 6 + header.length, readRequest, READ_REQUEST_BYTES, "rdmap", "readRequest")
}

const layers = ["RDMAP", "DDP", "MPA"]
const types: ReadonlyArray<ReadonlyArray<string>> = [
  ["local catastrophic error", "remote protection error", "remote operation error"],
  ["local catastrophic error", "tagged buffer error", "untagged buffer error"],
  ["MPA error"],
]
const protection = [
  "invalid STag",
  "base or bounds violation",
  "access rights violation",
  "STag not associated with the stream",
  "tagged offset wrap",
]
const operation = {
  5: "invalid RDMAP version",
  6: "unexpected opcode",
  7: "catastrophic error, localized to the stream",
  8: "catastrophic error, global",
  9: "STag cannot be invalidated",
}
const codes: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  "0.1": { ...protection, 9: "STag cannot be invalidated", 255: "unspecified error" },
  "0.2": { ...operation, 255: "unspecified error" },
  "1.1": {
    0: "invalid STag",
    1: "base or bounds violation",
    2: "STag not associated with the stream",
    3: "tagged offset wrap",
    4: "invalid DDP version",
  },
  "1.2": {
    1: "invalid queue number",
    2: "no buffer available",
    3: "message sequence number out of range",
    4: "invalid message offset",
    5: "message too long for the buffer",
    6: "invalid DDP version",
  },
  "2.0": {
    1: "TCP connection closed, terminated or lost",
    2: "CRC of MPA wrong",
    3: "marker and ULPDU length do not agree",
    4: "invalid opening frame of MPA",
    5: "local catastrophic error",
    6: "not enough inbound RDMA READs",
    7: "no ready-to-receive message in common",
  },
}

/** The cause in words (RFC 5040 §4.8, RFC 5044 §8, RFC 6581 §10): `DDP: tagged buffer error: invalid STag`. */
export const terminateText = ({ layer, errorType, errorCode }: Terminate): string => {
  const code = codes[`${layer}.${errorType}`]?.[errorCode]
  const type = types[layer]?.[errorType] ?? `error type ${errorType}`
  const name = layers[layer] ?? `layer ${layer}`
  if (code === undefined && errorCode === 0) return `${name}: ${type}`
  return `${name}: ${type}: ${code ?? `code ${errorCode}`}`
}
