// The header of rdmakit's model of SRD. The real one, which Amazon's cards put on the wire, is not public: no octet here was seen on a network.
import { layout } from "./Layout.ts"
import { EmitError, put16, put32, put64, space, u16, u32, u64, uint, uint64 } from "./Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, wrong } from "./Result.ts"

interface SrdCommon {
  /** It was sent before; of an acknowledgement: its packet had come before. */
  readonly repeated: boolean
  /** Of the contexts that the two hosts have had, 16 bits. */
  readonly generation: number
  /** Picoseconds of the sender's clock, 64 bits; acknowledgements return them. */
  readonly timestamp: bigint
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
      /** Of the whole message. */
      readonly bytes: number
    }
  | {
      readonly kind: "readRequest"
      readonly remoteKey: number
      readonly remoteAddress: bigint
      readonly bytes: number
      /** By which the response is known. */
      readonly message: number
    }
  | {
      readonly kind: "readResponse"
      readonly message: number
      readonly offset: number
      /** 0, or why there is no more of it: a status of EFA's completions. */
      readonly status: number
    }

export interface SrdData extends SrdCommon {
  readonly kind: "data"
  readonly queueKey: number
  /** 24 bits. */
  readonly sourceQp: number
  /** The first packet that its sender still waits for, 24 bits: what lies before may be forgotten. */
  readonly oldest: number
  readonly operation: SrdOperation
}

export interface SrdAck extends SrdCommon {
  readonly kind: "ack"
  /** Its packet had met congestion. */
  readonly congestion: boolean
  /** 0, or why the packet was refused: a status of EFA's completions. */
  readonly status: number
  /** All packets before this one have arrived, 24 bits. */
  readonly cumulative: number
  /** Bit n, from the lowest on, says that packet `base + n` has arrived: 128 bits, in two. */
  readonly base: number
  readonly selectiveLow: bigint
  readonly selectiveHigh: bigint
}

/** One header of the model: 12 octets that all have, then 12 of data and what its operation needs, or 24 of an ACK. */
export type Srd = SrdData | SrdAck

/**
 * Opcodes of the BTH in front of it, of those that InfiniBand leaves to manufacturers (IBTA 1.7 §9.2, table 38: 0xC0 to
 * 0xFF). The BTH has the packet's number, or that of the packet an acknowledgement answers, and the destination.
 */
export const SrdOpcode = {
  Send: 0xc2,
  SendImmediate: 0xc3,
  Write: 0xc4,
  WriteImmediate: 0xc5,
  ReadRequest: 0xc6,
  ReadResponse: 0xc8,
  Acknowledge: 0xca,
} as const
export type SrdOpcode = (typeof SrdOpcode)[keyof typeof SrdOpcode]

const VERSION = 1
const COMMON_BYTES = 12
const DATA_BYTES = 12
const ACK_BYTES = 24
const IMMEDIATE_BYTES = 4
/** By operation, from 1 on. */
const kinds = ["send", "write", "readRequest", "readResponse", "ack"] as const
const operationBytes = { send: 0, write: 16, readRequest: 20, readResponse: 12 } as const
const HAS_IMMEDIATE = 0x80
const REPEATED = 0x40
const CONGESTION = 0x20
const RESERVED = 0x1f
const U24 = 0xff_ffff

export const SRD = /* @__PURE__ */ layout(
  "srd",
  "version:4 operation:4 hasImmediate:1 repeated:1 congestion:1 _:5 generation:16 timestamp:64",
)

/** Octets of the header. */
export const srdBytes = (value: Srd): number => {
  if (value.kind === "ack") return COMMON_BYTES + ACK_BYTES
  const { operation } = value
  const hasImmediate = "immediate" in operation && operation.immediate !== undefined
  return COMMON_BYTES + DATA_BYTES + operationBytes[operation.kind] + (hasImmediate ? IMMEDIATE_BYTES : 0)
}

/** Fails for another version, an operation that is none, and an immediate where none goes. */
export const parseSrd = (octets: Uint8Array, start = 0, end = octets.length): Parse<Srd> => {
  const short = shortage("srd", octets, start, end, COMMON_BYTES)
  if (short !== undefined) return short
  const version = octets[start]! >> 4
  if (version !== VERSION) return failed("reserved", "srd", "version", start, version, "1")
  const kind = kinds[(octets[start]! & 15) - 1]
  if (kind === undefined) return failed("reserved", "srd", "operation", start, octets[start]! & 15, "1 to 5")
  const flags = octets[start + 1]!
  const hasImmediate = (flags & HAS_IMMEDIATE) !== 0
  if (hasImmediate && kind !== "send" && kind !== "write")
    return failed("value", "srd", "hasImmediate", start + 1, 1, `0 for ${kind}`)
  const unused = flags & (kind === "ack" ? RESERVED : RESERVED | CONGESTION)
  const faults = unused === 0 ? [] : [wrong("ignored", "srd", "reserved", start + 1, unused, "0")]
  const common = {
    repeated: (flags & REPEATED) !== 0,
    generation: u16(octets, start + 2),
    timestamp: u64(octets, start + 4),
  }
  const at = start + COMMON_BYTES
  const bytes = kind === "ack" ? ACK_BYTES : DATA_BYTES + operationBytes[kind] + (hasImmediate ? IMMEDIATE_BYTES : 0)
  const cut = shortage("srd", octets, at, end, bytes)
  if (cut !== undefined) return cut
  /** Three octets behind one that is reserved. */
  const number = (place: number, field: string): number => {
    if (octets[place] !== 0) faults.push(wrong("ignored", "srd", field, place, octets[place]!, "0"))
    return u32(octets, place) & U24
  }
  if (kind === "ack") {
    const value: SrdAck = {
      kind,
      ...common,
      congestion: (flags & CONGESTION) !== 0,
      status: octets[at]!,
      cumulative: u32(octets, at) & U24,
      base: number(at + 4, "reserved before base"),
      selectiveLow: u64(octets, at + 8),
      selectiveHigh: u64(octets, at + 16),
    }
    return parsed<Srd>(value, at + bytes, end, faults.length === 0 ? NO_FAULTS : faults)
  }
  const data = {
    queueKey: u32(octets, at),
    sourceQp: number(at + 4, "reserved before sourceQp"),
    oldest: number(at + 8, "reserved before oldest"),
  }
  const rest = at + DATA_BYTES
  const immediate = hasImmediate ? u32(octets, at + bytes - IMMEDIATE_BYTES) : undefined
  const response = (): SrdOperation => {
    const low = u32(octets, rest) & U24
    if (low !== 0) faults.push(wrong("ignored", "srd", "reserved behind status", rest + 1, low, "0"))
    return {
      kind: "readResponse",
      message: u32(octets, rest + 4),
      offset: u32(octets, rest + 8),
      status: octets[rest]!,
    }
  }
  const remote = () => ({
    remoteKey: u32(octets, rest),
    remoteAddress: u64(octets, rest + 4),
    bytes: u32(octets, rest + 12),
  })
  const operation: SrdOperation =
    kind === "send"
      ? { kind, immediate }
      : kind === "write"
        ? { kind, immediate, ...remote() }
        : kind === "readRequest"
          ? { kind, ...remote(), message: u32(octets, rest + 16) }
          : response()
  const value: SrdData = { kind: "data", ...common, ...data, operation }
  return parsed<Srd>(value, at + bytes, end, faults.length === 0 ? NO_FAULTS : faults)
}

export const emitSrd = (value: Srd, octets: Uint8Array, start = 0): number => {
  const bytes = srdBytes(value)
  space(octets, start, bytes, "srd")
  const word = (at: number, field: string, found: number, bits = 32): void =>
    put32(octets, at, uint(found, bits, "srd", field))
  const kind = value.kind === "ack" ? "ack" : value.operation.kind
  const code = kinds.indexOf(kind) + 1
  if (code === 0) throw new EmitError("srd", "operation", code, kinds.join(", "))
  octets[start] = (VERSION << 4) | code
  octets[start + 1] = value.repeated ? REPEATED : 0
  put16(octets, start + 2, uint(value.generation, 16, "srd", "generation"))
  put64(octets, start + 4, uint64(value.timestamp, "srd", "timestamp"))
  const at = start + COMMON_BYTES
  if (value.kind === "ack") {
    if (value.congestion) octets[start + 1]! |= CONGESTION
    word(at, "cumulative", value.cumulative, 24)
    octets[at] = uint(value.status, 8, "srd", "status")
    word(at + 4, "base", value.base, 24)
    put64(octets, at + 8, uint64(value.selectiveLow, "srd", "selectiveLow"))
    put64(octets, at + 16, uint64(value.selectiveHigh, "srd", "selectiveHigh"))
    return start + bytes
  }
  const { operation } = value
  word(at, "queueKey", value.queueKey)
  word(at + 4, "sourceQp", value.sourceQp, 24)
  word(at + 8, "oldest", value.oldest, 24)
  const rest = at + DATA_BYTES
  if (operation.kind === "write" || operation.kind === "readRequest") {
    word(rest, "remoteKey", operation.remoteKey)
    put64(octets, rest + 4, uint64(operation.remoteAddress, "srd", "remoteAddress"))
    word(rest + 12, "bytes", operation.bytes)
  }
  if (operation.kind === "readRequest") word(rest + 16, "message", operation.message)
  if (operation.kind === "readResponse") {
    word(rest, "status", operation.status * 2 ** 24)
    word(rest + 4, "message", operation.message)
    word(rest + 8, "offset", operation.offset)
  }
  const immediate = "immediate" in operation ? operation.immediate : undefined
  if (immediate === undefined) return start + bytes
  octets[start + 1]! |= HAS_IMMEDIATE
  word(start + bytes - IMMEDIATE_BYTES, "immediate", immediate)
  return start + bytes
}
