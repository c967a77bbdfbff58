// The header of rdmakit's model of SRD. The real one, which Amazon's cards put on the wire, is not public: no octet here was seen on a network.
import { layout } from "./Layout.ts"
import { EmitError, put16, put32, put64, space, u16, u32, u64, uint, uint64 } from "./Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, wrong } from "./Result.ts"

interface SrdCommon {
  /** Which of the paths to the peer it takes, 16 bits: what the sender sprays over, as a source port of UDP. */
  readonly path: number
  /** The two hosts' context, one for each address handle, 32 bits. */
  readonly connection: number
  /** Microseconds of the sender's clock, 32 bits; acknowledgements return it. */
  readonly timestamp: number
}

/** What a packet of data is part of. */
export type SrdOperation =
  | { readonly kind: "send"; readonly immediate: number | undefined }
  | {
      readonly kind: "write"
      readonly immediate: number | undefined
      readonly remoteKey: number
      /** Where this packet's octets go, 64 bits. */
      readonly remoteAddress: bigint
    }
  | { readonly kind: "readRequest"; readonly remoteKey: number; readonly remoteAddress: bigint }
  | { readonly kind: "readResponse" }

export interface SrdData extends SrdCommon {
  readonly kind: "data"
  /** Of the connection, 32 bits; packets may arrive in any order. */
  readonly sequence: number
  readonly destinationQp: number
  readonly sourceQp: number
  readonly queueKey: number
  /** Of the source queue pair, 32 bits. */
  readonly message: number
  /** Where in the message this packet is. */
  readonly offset: number
  readonly messageBytes: number
  readonly operation: SrdOperation
}

export interface SrdAck extends SrdCommon {
  readonly kind: "ack"
  /** The packet it answers. */
  readonly sequence: number
  /** All packets before this one have arrived. */
  readonly cumulative: number
  /** Bit n says that `cumulative + 1 + n` has arrived, 64 bits. */
  readonly selective: bigint
  /** 0, or why the packet was dropped: a status of EFA's completions. */
  readonly status: number
  /** Packets per second that the receiver grants, 0 for no limit of its own. */
  readonly grantedRate: number
}

/** One packet of the model: 16 octets that all have, then 20 of data and what its operation needs, or 20 of an ACK. */
export type Srd = SrdData | SrdAck

const VERSION = 1
const COMMON_BYTES = 16
const DATA_BYTES = 20
const ACK_BYTES = 20
const IMMEDIATE_BYTES = 4
const REMOTE_BYTES = 12
const DATA = 0
const ACK = 1
const HAS_IMMEDIATE = 0x10
const operations = ["send", "write", "readRequest", "readResponse"] as const

export const SRD = /* @__PURE__ */ layout(
  "srd",
  "version:4 type:4 _:3 hasImmediate:1 operation:4 path:16 connection:32 sequence:32 timestamp:32",
)

/** Octets of the header. */
export const srdBytes = (value: Srd): number => {
  if (value.kind === "ack") return COMMON_BYTES + ACK_BYTES
  const { operation } = value
  const hasImmediate = "immediate" in operation && operation.immediate !== undefined
  const isRemote = operation.kind === "write" || operation.kind === "readRequest"
  return COMMON_BYTES + DATA_BYTES + (isRemote ? REMOTE_BYTES : 0) + (hasImmediate ? IMMEDIATE_BYTES : 0)
}

/** Fails for another version or type, an operation from 4 on, and a READ with an immediate. */
export const parseSrd = (octets: Uint8Array, start = 0, end = octets.length): Parse<Srd> => {
  const short = shortage("srd", octets, start, end, COMMON_BYTES)
  if (short !== undefined) return short
  const version = octets[start]! >> 4
  const type = octets[start]! & 15
  if (version !== VERSION) return failed("reserved", "srd", "version", start, version, "1")
  if (type !== DATA && type !== ACK) return failed("reserved", "srd", "type", start, type, "0 or 1")
  const flags = octets[start + 1]!
  const reserved = type === ACK ? flags : flags & 0xe0
  const faults = reserved === 0 ? NO_FAULTS : [wrong("ignored", "srd", "reserved", start + 1, reserved, "0")]
  const common = {
    path: u16(octets, start + 2),
    connection: u32(octets, start + 4),
    sequence: u32(octets, start + 8),
    timestamp: u32(octets, start + 12),
  }
  const at = start + COMMON_BYTES
  if (type === ACK) {
    const cut = shortage("srd", octets, at, end, ACK_BYTES)
    if (cut !== undefined) return cut
    const value: Srd = {
      kind: "ack",
      ...common,
      cumulative: u32(octets, at),
      selective: u64(octets, at + 4),
      status: u32(octets, at + 12),
      grantedRate: u32(octets, at + 16),
    }
    return parsed(value, at + ACK_BYTES, end, faults)
  }
  const kind = operations[flags & 15]
  if (kind === undefined) return failed("reserved", "srd", "operation", start + 1, flags & 15, "0 to 3")
  const hasImmediate = (flags & HAS_IMMEDIATE) !== 0
  const isRemote = kind === "write" || kind === "readRequest"
  if (hasImmediate && (kind === "readRequest" || kind === "readResponse"))
    return failed("value", "srd", "hasImmediate", start + 1, 1, "0 for a READ")
  const remoteAt = at + DATA_BYTES
  const immediateAt = remoteAt + (isRemote ? REMOTE_BYTES : 0)
  const payloadStart = immediateAt + (hasImmediate ? IMMEDIATE_BYTES : 0)
  const cut = shortage("srd", octets, at, end, payloadStart - at)
  if (cut !== undefined) return cut
  const immediate = hasImmediate ? u32(octets, immediateAt) : undefined
  const remote = isRemote ? { remoteKey: u32(octets, remoteAt), remoteAddress: u64(octets, remoteAt + 4) } : undefined
  const operation = { kind, ...remote, ...(kind === "send" || kind === "write" ? { immediate } : {}) } as SrdOperation
  const value: Srd = {
    kind: "data",
    ...common,
    destinationQp: u16(octets, at),
    sourceQp: u16(octets, at + 2),
    queueKey: u32(octets, at + 4),
    message: u32(octets, at + 8),
    offset: u32(octets, at + 12),
    messageBytes: u32(octets, at + 16),
    operation,
  }
  return parsed(value, payloadStart, end, faults)
}

export const emitSrd = (value: Srd, octets: Uint8Array, start = 0): number => {
  const bytes = srdBytes(value)
  space(octets, start, bytes, "srd")
  const word = (at: number, field: string, found: number): void => put32(octets, at, uint(found, 32, "srd", field))
  octets[start] = (VERSION << 4) | (value.kind === "ack" ? ACK : DATA)
  octets[start + 1] = 0
  put16(octets, start + 2, uint(value.path, 16, "srd", "path"))
  word(start + 4, "connection", value.connection)
  word(start + 8, "sequence", value.sequence)
  word(start + 12, "timestamp", value.timestamp)
  const at = start + COMMON_BYTES
  if (value.kind === "ack") {
    word(at, "cumulative", value.cumulative)
    put64(octets, at + 4, uint64(value.selective, "srd", "selective"))
    word(at + 12, "status", value.status)
    word(at + 16, "grantedRate", value.grantedRate)
    return start + bytes
  }
  const { operation } = value
  const code = operations.indexOf(operation.kind)
  if (code < 0) throw new EmitError("srd", "operation", code, operations.join(", "))
  const immediate = "immediate" in operation ? operation.immediate : undefined
  octets[start + 1] = code | (immediate === undefined ? 0 : HAS_IMMEDIATE)
  put16(octets, at, uint(value.destinationQp, 16, "srd", "destinationQp"))
  put16(octets, at + 2, uint(value.sourceQp, 16, "srd", "sourceQp"))
  word(at + 4, "queueKey", value.queueKey)
  word(at + 8, "message", value.message)
  word(at + 12, "offset", value.offset)
  word(at + 16, "messageBytes", value.messageBytes)
  let next = at + DATA_BYTES
  if (operation.kind === "write" || operation.kind === "readRequest") {
    word(next, "remoteKey", operation.remoteKey)
    put64(octets, next + 4, uint64(operation.remoteAddress, "srd", "remoteAddress"))
    next += REMOTE_BYTES
  }
  if (immediate !== undefined) word(next, "immediate", immediate)
  return start + bytes
}
