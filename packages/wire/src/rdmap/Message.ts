import { DDP_TAGGED_BYTES, DDP_UNTAGGED_BYTES, type Ddp, emitDdp, parseDdp } from "../Ddp.ts"
import { layout } from "../Layout.ts"
import { put32, put64, space, u32, u64, uint, uint64 } from "../Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"
import { emitTerminate, parseTerminate, type Terminate, terminateBytes } from "./Terminate.ts"

interface Segment {
  /** Whether this DDP segment is the last of its message. */
  readonly last: boolean
}

interface Queued extends Segment {
  /** Message sequence number in its queue, from 1. */
  readonly messageSequence: number
}

interface Placed extends Segment {
  readonly sinkStag: number
  /** 64 bits. */
  readonly sinkOffset: bigint
}

/** An operation that a responder does on 64 bits of its memory (RFC 7306 §5.2). */
export type RdmapAtomic =
  | { readonly kind: "fetchAdd"; readonly add: bigint; readonly addMask: bigint }
  | { readonly kind: "swap"; readonly swap: bigint; readonly swapMask: bigint }
  | {
      readonly kind: "compareSwap"
      readonly swap: bigint
      readonly swapMask: bigint
      readonly compare: bigint
      readonly compareMask: bigint
    }

/** The header of an RDMAP message with the DDP header it lives in (RFC 5040 §4, RFC 7306). */
export type Rdmap =
  | (Placed & { readonly kind: "write" })
  | (Placed & { readonly kind: "readResponse" })
  | (Placed &
      Queued & {
        readonly kind: "readRequest"
        /** Octets to read. */
        readonly bytes: number
        readonly sourceStag: number
        readonly sourceOffset: bigint
      })
  | (Queued & {
      readonly kind: "send"
      /** Whether the receiver raises an event. */
      readonly solicited: boolean
      /** STag the receiver invalidates, if any. */
      readonly invalidatedStag: number | undefined
      /** Where in the message this segment goes. */
      readonly messageOffset: number
    })
  | (Queued & { readonly kind: "terminate"; readonly terminate: Terminate })
  | (Queued & {
      /** Eight octets behind an RDMA WRITE (RFC 7306 §6). */
      readonly kind: "immediate"
      readonly solicited: boolean
      readonly data: bigint
    })
  | (Queued & {
      readonly kind: "atomicRequest"
      readonly requestId: number
      readonly remoteStag: number
      readonly remoteOffset: bigint
      readonly operation: RdmapAtomic
    })
  | (Queued & { readonly kind: "atomicResponse"; readonly requestId: number; readonly original: bigint })

/** Opcodes (RFC 5040 §4.3, RFC 7306 §4). */
export const RdmapOpcode = {
  Write: 0,
  ReadRequest: 1,
  ReadResponse: 2,
  Send: 3,
  SendInvalidate: 4,
  SendSolicited: 5,
  SendSolicitedInvalidate: 6,
  Terminate: 7,
  Immediate: 8,
  ImmediateSolicited: 9,
  AtomicRequest: 10,
  AtomicResponse: 11,
} as const
const VERSION = 1
const READ_REQUEST_BYTES = 28
const IMMEDIATE_BYTES = 8
const ATOMIC_REQUEST_BYTES = 52
const ATOMIC_RESPONSE_BYTES = 12
/** Untagged queues: of each message but those of queue 0, by opcode. */
const queueOf: ReadonlyArray<number> = [0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 1, 3]
const FETCH_ADD = 0
const SWAP = 1
const COMPARE_SWAP = 2

/** What a READ request has behind its DDP header. */
export const RDMAP_READ_REQUEST = /* @__PURE__ */ layout(
  "rdmap",
  "sinkStag:32 sinkOffset:64 bytes:32 sourceStag:32 sourceOffset:64",
)
/** What an atomic request has behind its DDP header. */
export const RDMAP_ATOMIC_REQUEST = /* @__PURE__ */ layout(
  "rdmap",
  "_:28 operation:4 requestId:32 remoteStag:32 remoteOffset:64 data:64 mask:64 compare:64 compareMask:64",
)

/**
 * Reads a DDP segment's header as RDMAP's. Fails for another version of either, an opcode from 12 on, a segment tagged
 * that must not be or the other way round, and a message in a queue that is not its own.
 */
export const parseRdmap = (octets: Uint8Array, start = 0, end = octets.length): Parse<Rdmap> => {
  const outcome = parseDdp(octets, start, end)
  if (!outcome.ok) return { ok: false, error: { ...outcome.error, format: "rdmap" } }
  const { value: ddp, payloadStart: at } = outcome
  const opcode = ddp.ulpOctet & 0x0f
  const version = ddp.ulpOctet >> 6
  if (version !== VERSION) return failed("reserved", "rdmap", "version", start + 1, version, "1")
  if (opcode > RdmapOpcode.AtomicResponse) return failed("reserved", "rdmap", "opcode", start + 1, opcode, "0 to 11")
  const faults: Array<WireError> = outcome.faults.map((fault) => ({ ...fault, format: "rdmap" }))
  const reserved = (ddp.ulpOctet >> 4) & 3
  if (reserved !== 0) faults.push(wrong("ignored", "rdmap", "reserved", start + 1, reserved, "0"))
  const isPlaced = opcode === RdmapOpcode.Write || opcode === RdmapOpcode.ReadResponse
  if (isPlaced !== (ddp.kind === "tagged"))
    return failed("value", "rdmap", "tagged", start, isPlaced ? 0 : 1, isPlaced ? "1" : "0")
  if (ddp.kind === "tagged") {
    const { last, stag, taggedOffset } = ddp
    const kind = opcode === RdmapOpcode.Write ? "write" : "readResponse"
    return parsed<Rdmap>({ kind, last, sinkStag: stag, sinkOffset: taggedOffset }, at, end, faults)
  }
  const queue = queueOf[opcode]!
  if (ddp.queue !== queue) return failed("value", "rdmap", "queue", start + 6, ddp.queue, String(queue))
  return parseQueued(octets, start, at, end, opcode, ddp, faults)
}

const parseQueued = (
  octets: Uint8Array,
  start: number,
  at: number,
  end: number,
  opcode: number,
  ddp: Ddp & { readonly kind: "untagged" },
  faults: Array<WireError>,
): Parse<Rdmap> => {
  const { last, messageSequence, messageOffset } = ddp
  const queued = { last, messageSequence }
  const ignore = (field: string, offset: number, found: number): void => {
    if (found !== 0) faults.push(wrong("ignored", "rdmap", field, offset, found, "0"))
  }
  const isInvalidating = opcode === RdmapOpcode.SendInvalidate || opcode === RdmapOpcode.SendSolicitedInvalidate
  if (!isInvalidating) ignore("reserved", start + 2, ddp.ulpWord)
  if (opcode >= RdmapOpcode.Send && opcode <= RdmapOpcode.SendSolicitedInvalidate) {
    const solicited = opcode >= RdmapOpcode.SendSolicited
    const invalidatedStag = isInvalidating ? ddp.ulpWord : undefined
    return parsed<Rdmap>({ kind: "send", ...queued, solicited, invalidatedStag, messageOffset }, at, end, faults)
  }
  // All others are messages of one segment.
  if (messageOffset !== 0) return failed("value", "rdmap", "messageOffset", start + 14, messageOffset, "0")
  if (opcode === RdmapOpcode.Terminate) {
    const body = parseTerminate(octets, at, end)
    if (!body.ok) return body
    const value: Rdmap = { kind: "terminate", ...queued, terminate: body.value }
    return parsed(value, at + body.bytes, end, [...faults, ...body.faults])
  }
  const bytes = bodyBytes(opcode)
  const cut = shortage("rdmap", octets, at, end, bytes)
  if (cut !== undefined) return cut
  switch (opcode) {
    case RdmapOpcode.ReadRequest: {
      const value: Rdmap = {
        kind: "readRequest",
        ...queued,
        sinkStag: u32(octets, at),
        sinkOffset: u64(octets, at + 4),
        bytes: u32(octets, at + 12),
        sourceStag: u32(octets, at + 16),
        sourceOffset: u64(octets, at + 20),
      }
      return parsed(value, at + bytes, end, faults)
    }
    case RdmapOpcode.AtomicRequest: {
      const word = u32(octets, at)
      const operation = atomicOf(octets, at, word & 0x0f)
      if (operation === undefined) return failed("reserved", "rdmap", "operation", at, word & 0x0f, "0 to 2")
      ignore("reserved", at, word >>> 4)
      const compares = operation.kind === "compareSwap"
      for (const offset of compares ? [] : [36, 40, 44, 48]) ignore("compare", at + offset, u32(octets, at + offset))
      const value: Rdmap = {
        kind: "atomicRequest",
        ...queued,
        requestId: u32(octets, at + 4),
        remoteStag: u32(octets, at + 8),
        remoteOffset: u64(octets, at + 12),
        operation,
      }
      return parsed(value, at + bytes, end, faults)
    }
    case RdmapOpcode.AtomicResponse: {
      const value = { requestId: u32(octets, at), original: u64(octets, at + 4) }
      return parsed<Rdmap>({ kind: "atomicResponse", ...queued, ...value }, at + bytes, end, faults)
    }
    default: {
      const solicited = opcode === RdmapOpcode.ImmediateSolicited
      return parsed<Rdmap>({ kind: "immediate", ...queued, solicited, data: u64(octets, at) }, at + bytes, end, faults)
    }
  }
}

const bodyBytes = (opcode: number): number => {
  if (opcode === RdmapOpcode.ReadRequest) return READ_REQUEST_BYTES
  if (opcode === RdmapOpcode.AtomicRequest) return ATOMIC_REQUEST_BYTES
  return opcode === RdmapOpcode.AtomicResponse ? ATOMIC_RESPONSE_BYTES : IMMEDIATE_BYTES
}

const atomicOf = (octets: Uint8Array, at: number, code: number): RdmapAtomic | undefined => {
  const data = u64(octets, at + 20)
  const mask = u64(octets, at + 28)
  if (code === FETCH_ADD) return { kind: "fetchAdd", add: data, addMask: mask }
  if (code === SWAP) return { kind: "swap", swap: data, swapMask: mask }
  if (code !== COMPARE_SWAP) return undefined
  const compare = { compare: u64(octets, at + 36), compareMask: u64(octets, at + 44) }
  return { kind: "compareSwap", swap: data, swapMask: mask, ...compare }
}

/** Octets of the header, DDP's included. */
export const rdmapBytes = (value: Rdmap): number => {
  if (value.kind === "write" || value.kind === "readResponse") return DDP_TAGGED_BYTES
  if (value.kind === "send") return DDP_UNTAGGED_BYTES
  if (value.kind === "terminate") return DDP_UNTAGGED_BYTES + terminateBytes(value.terminate)
  return DDP_UNTAGGED_BYTES + bodyBytes(rdmapOpcode(value))
}

export const rdmapOpcode = (value: Rdmap): number => {
  switch (value.kind) {
    case "write":
      return RdmapOpcode.Write
    case "readRequest":
      return RdmapOpcode.ReadRequest
    case "readResponse":
      return RdmapOpcode.ReadResponse
    case "send":
      return (
        (value.solicited ? RdmapOpcode.SendSolicited : RdmapOpcode.Send) + (value.invalidatedStag === undefined ? 0 : 1)
      )
    case "terminate":
      return RdmapOpcode.Terminate
    case "immediate":
      return value.solicited ? RdmapOpcode.ImmediateSolicited : RdmapOpcode.Immediate
    case "atomicRequest":
      return RdmapOpcode.AtomicRequest
    case "atomicResponse":
      return RdmapOpcode.AtomicResponse
  }
}

/** Writes the DDP header and what RDMAP has behind it; a payload follows a write, a READ response and a SEND. */
export const emitRdmap = (value: Rdmap, octets: Uint8Array, start = 0): number => {
  const bytes = rdmapBytes(value)
  space(octets, start, bytes, "rdmap")
  const opcode = rdmapOpcode(value)
  const ulpOctet = (VERSION << 6) | opcode
  const { last } = value
  if (value.kind === "write" || value.kind === "readResponse") {
    const { sinkStag: stag, sinkOffset: taggedOffset } = value
    return emitDdp({ kind: "tagged", last, ulpOctet, stag, taggedOffset }, octets, start)
  }
  const { messageSequence } = value
  const ulpWord = value.kind === "send" ? (value.invalidatedStag ?? 0) : 0
  const messageOffset = value.kind === "send" ? value.messageOffset : 0
  const queue = queueOf[opcode]!
  const ddp: Ddp = { kind: "untagged", last, ulpOctet, ulpWord, queue, messageSequence, messageOffset }
  const at = emitDdp(ddp, octets, start)
  if (value.kind === "terminate") emitTerminate(value.terminate, octets, at)
  else if (value.kind === "immediate") put64(octets, at, uint64(value.data, "rdmap", "data"))
  else if (value.kind === "readRequest") {
    put32(octets, at, uint(value.sinkStag, 32, "rdmap", "sinkStag"))
    put64(octets, at + 4, uint64(value.sinkOffset, "rdmap", "sinkOffset"))
    put32(octets, at + 12, uint(value.bytes, 32, "rdmap", "bytes"))
    put32(octets, at + 16, uint(value.sourceStag, 32, "rdmap", "sourceStag"))
    put64(octets, at + 20, uint64(value.sourceOffset, "rdmap", "sourceOffset"))
  } else if (value.kind === "atomicResponse") {
    put32(octets, at, uint(value.requestId, 32, "rdmap", "requestId"))
    put64(octets, at + 4, uint64(value.original, "rdmap", "original"))
  } else if (value.kind === "atomicRequest") {
    put32(octets, at + 4, uint(value.requestId, 32, "rdmap", "requestId"))
    put32(octets, at + 8, uint(value.remoteStag, 32, "rdmap", "remoteStag"))
    put64(octets, at + 12, uint64(value.remoteOffset, "rdmap", "remoteOffset"))
    emitAtomic(value.operation, octets, at)
  }
  return start + bytes
}

const emitAtomic = (operation: RdmapAtomic, octets: Uint8Array, at: number): void => {
  const put = (offset: number, value: bigint, field: string): void =>
    put64(octets, at + offset, uint64(value, "rdmap", field))
  const isAdd = operation.kind === "fetchAdd"
  put32(octets, at, isAdd ? FETCH_ADD : operation.kind === "swap" ? SWAP : COMPARE_SWAP)
  put(20, isAdd ? operation.add : operation.swap, isAdd ? "add" : "swap")
  put(28, isAdd ? operation.addMask : operation.swapMask, isAdd ? "addMask" : "swapMask")
  put(36, operation.kind === "compareSwap" ? operation.compare : 0n, "compare")
  put(44, operation.kind === "compareSwap" ? operation.compareMask : 0n, "compareMask")
}
