import { type FieldsOf, readFields, writeFields } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { EmitError, put32, put32le, put64le, space, u32, u32le, u64le, uint, uint64 } from "../Octets.ts"
import { type Failed, failed, leftoverFaults, type Parse, parsed, shortage } from "../Result.ts"
import { type ErdmaMemoryOperation, memoryBytes, memoryOf, putMemory } from "./Memory.ts"

/** A stretch of memory. */
export interface ErdmaBuffer {
  readonly address: bigint
  readonly bytes: number
  readonly key: number
}

/** What a SEND or a WRITE carries: buffers, or the octets themselves. */
export type ErdmaPayload =
  | { readonly kind: "buffers"; readonly buffers: ReadonlyArray<ErdmaBuffer> }
  | { readonly kind: "inline"; readonly data: Uint8Array }

/** Where the peer's memory is. */
export interface ErdmaRemote {
  readonly stag: number
  readonly address: bigint
}

/** What a SEND, WRITE, READ or atomic does. */
export type ErdmaDataOperation =
  | {
      readonly kind: "write"
      readonly immediate: number | undefined
      /** Octets of the message. */
      readonly bytes: number
      readonly remote: ErdmaRemote
      readonly payload: ErdmaPayload
    }
  | {
      readonly kind: "send"
      /** What the peer is told, or which of its STags it invalidates. */
      readonly extra: { readonly kind: "none" } | { readonly kind: "immediate" | "invalidate"; readonly word: number }
      readonly bytes: number
      readonly payload: ErdmaPayload
    }
  | {
      readonly kind: "read"
      /** Local STag to invalidate when the data is there. */
      readonly invalidatedStag: number | undefined
      readonly bytes: number
      /** Where the data goes. */
      readonly sink: ErdmaRemote
      /** Where it comes from. */
      readonly source: ErdmaBuffer
    }
  | {
      readonly kind: "atomic"
      readonly operation:
        | { readonly kind: "compareSwap"; readonly compare: bigint; readonly swap: bigint }
        | { readonly kind: "fetchAdd"; readonly add: bigint }
      readonly remote: ErdmaBuffer
      readonly local: ErdmaBuffer
    }

export type ErdmaOperation = ErdmaDataOperation | ErdmaMemoryOperation

/**
 * A send queue entry of eRDMA, one to four blocks of 32 octets, little-endian but for an immediate (erdma_hw.h). Its
 * header says how many blocks there are.
 */
export interface ErdmaSend {
  /** Of the block behind it in the ring, 16 bits: what the doorbell will say. */
  readonly index: number
  /** 20 bits. */
  readonly qp: number
  readonly signaled: boolean
  readonly solicited: boolean
  readonly fence: boolean
  /** Written to the doorbell page itself. */
  readonly direct: boolean
  readonly operation: ErdmaOperation
}

export const ErdmaOpcode = {
  Write: 0,
  Read: 1,
  Send: 2,
  SendImmediate: 3,
  Receive: 4,
  ReceiveImmediate: 5,
  ReceiveInvalidate: 6,
  WriteImmediate: 9,
  ResponseSendImmediate: 12,
  SendInvalidate: 13,
  RegisterMemory: 14,
  LocalInvalidate: 15,
  ReadInvalidate: 16,
  CompareSwap: 17,
  FetchAdd: 18,
} as const

export const ERDMA_BLOCK_BYTES = 32
export const ERDMA_SEND_BYTES_MAX = 128
const BUFFER_BYTES = 16
const HEADER = "index:16 _:6 signaled:1 solicited:1 fence:1 inline:1 direct:1 opcode:5 qp:20 blocks:3 _:1 count:8"

/**
 * The header of every entry. `blocks` is one less than there are; `count` is that of the buffers of a SEND or WRITE, or
 * of its octets when they are inline.
 */
export const ERDMA_SEND = /* @__PURE__ */ littleLayout("erdmaSend", HEADER)

type Header = FieldsOf<typeof HEADER>

const bufferOf = (octets: Uint8Array, at: number): ErdmaBuffer => ({
  address: u64le(octets, at),
  bytes: u32le(octets, at + 8),
  key: u32le(octets, at + 12),
})

const remoteOf = (octets: Uint8Array, at: number): ErdmaRemote => ({
  stag: u32le(octets, at),
  address: u64le(octets, at + 4),
})

/**
 * Where the payload of an operation starts, in octets of the entry: behind the header's eight octets and the
 * operation's own.
 */
const payloadAt: Readonly<Record<number, number>> = {
  [ErdmaOpcode.Write]: 32,
  [ErdmaOpcode.WriteImmediate]: 32,
  [ErdmaOpcode.Send]: 16,
  [ErdmaOpcode.SendImmediate]: 16,
  [ErdmaOpcode.SendInvalidate]: 16,
  [ErdmaOpcode.Read]: 32,
  [ErdmaOpcode.ReadInvalidate]: 32,
  [ErdmaOpcode.CompareSwap]: 32,
  [ErdmaOpcode.FetchAdd]: 32,
}

const memoryKinds: Readonly<Record<number, ErdmaMemoryOperation["kind"]>> = {
  [ErdmaOpcode.RegisterMemory]: "register",
  [ErdmaOpcode.LocalInvalidate]: "invalidate",
}

/** Fails for opcodes that are not of this queue, and for payloads and pages that do not fit the blocks. */
export const parseErdmaSend = (octets: Uint8Array, start = 0, end = octets.length): Parse<ErdmaSend> => {
  const short = shortage("erdmaSend", octets, start, end, ERDMA_SEND.bytes)
  if (short !== undefined) return short
  const header = readFields(ERDMA_SEND, octets, start)
  const from = payloadAt[header.opcode]
  const memoryKind = memoryKinds[header.opcode]
  if (from === undefined && memoryKind === undefined)
    return failed("unsupported", "erdmaSend", "opcode", start + 3, header.opcode, "an operation of the send queue")
  const bytes = ERDMA_BLOCK_BYTES * (header.blocks + 1)
  if (bytes > ERDMA_SEND_BYTES_MAX) return failed("length", "erdmaSend", "blocks", start + 6, header.blocks, "0 to 3")
  const cut = shortage("erdmaSend", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const operation =
    memoryKind === undefined ? dataOf(octets, start, from!, bytes, header) : memoryOf(octets, start, bytes, memoryKind)
  if ("ok" in operation) return operation
  const { index, qp, signaled, solicited, fence, direct } = header
  const value: ErdmaSend = { index, qp, signaled, solicited, fence, direct, operation }
  const again = new Uint8Array(bytes)
  emitErdmaSend(value, again)
  return parsed(value, start + bytes, end, leftoverFaults("erdmaSend", octets, start, again))
}

/** READs and atomics have a fixed number of buffers and do not count them. */
const fixedBuffers: Readonly<Record<number, number>> = {
  [ErdmaOpcode.Read]: 1,
  [ErdmaOpcode.ReadInvalidate]: 1,
  [ErdmaOpcode.CompareSwap]: 2,
  [ErdmaOpcode.FetchAdd]: 2,
}

/** Octets behind the operation's own. */
const payloadBytesOf = (opcode: number, inline: boolean, count: number): number => {
  const fixed = fixedBuffers[opcode]
  if (fixed !== undefined) return BUFFER_BYTES * fixed
  return inline ? count : BUFFER_BYTES * count
}

const payloadOf = (
  octets: Uint8Array,
  start: number,
  from: number,
  bytes: number,
  header: Header,
): ErdmaPayload | Failed => {
  const { count, inline, opcode } = header
  const payloadBytes = payloadBytesOf(opcode, inline, count)
  if (Math.ceil((from + payloadBytes) / ERDMA_BLOCK_BYTES) !== bytes / ERDMA_BLOCK_BYTES)
    return failed("length", "erdmaSend", "count", start + 7, count, `what makes ${bytes} octets in all`)
  const at = start + from
  if (inline && fixedBuffers[opcode] === undefined)
    return { kind: "inline", data: octets.subarray(at, at + payloadBytes) }
  const buffers: Array<ErdmaBuffer> = []
  for (let offset = 0; offset < payloadBytes; offset += BUFFER_BYTES) buffers.push(bufferOf(octets, at + offset))
  return { kind: "buffers", buffers }
}

const dataOf = (
  octets: Uint8Array,
  start: number,
  from: number,
  entryBytes: number,
  header: Header,
): ErdmaDataOperation | Failed => {
  const payload = payloadOf(octets, start, from, entryBytes, header)
  if ("ok" in payload) return payload
  const { opcode } = header
  const isWrite = opcode === ErdmaOpcode.Write || opcode === ErdmaOpcode.WriteImmediate
  const bytes = u32le(octets, start + 12)
  if (isWrite) {
    const immediate = opcode === ErdmaOpcode.WriteImmediate ? u32(octets, start + 8) : undefined
    return { kind: "write", immediate, bytes, remote: remoteOf(octets, start + 16), payload }
  }
  if (opcode === ErdmaOpcode.Send) return { kind: "send", extra: { kind: "none" }, bytes, payload }
  if (opcode === ErdmaOpcode.SendImmediate)
    return { kind: "send", extra: { kind: "immediate", word: u32(octets, start + 8) }, bytes, payload }
  if (opcode === ErdmaOpcode.SendInvalidate)
    return { kind: "send", extra: { kind: "invalidate", word: u32le(octets, start + 8) }, bytes, payload }
  const [first, second] = (payload as { readonly buffers: ReadonlyArray<ErdmaBuffer> }).buffers as [
    ErdmaBuffer,
    ErdmaBuffer,
  ]
  if (fixedBuffers[opcode] === 1) {
    const invalidatedStag = opcode === ErdmaOpcode.ReadInvalidate ? u32le(octets, start + 8) : undefined
    return { kind: "read", invalidatedStag, bytes, sink: remoteOf(octets, start + 16), source: first }
  }
  const data = u64le(octets, start + 16)
  const operation =
    opcode === ErdmaOpcode.FetchAdd
      ? ({ kind: "fetchAdd", add: data } as const)
      : ({ kind: "compareSwap", compare: u64le(octets, start + 24), swap: data } as const)
  return { kind: "atomic", operation, remote: first, local: second }
}

const opcodeOf = (operation: ErdmaOperation): number => {
  switch (operation.kind) {
    case "write":
      return operation.immediate === undefined ? ErdmaOpcode.Write : ErdmaOpcode.WriteImmediate
    case "send":
      if (operation.extra.kind === "none") return ErdmaOpcode.Send
      return operation.extra.kind === "immediate" ? ErdmaOpcode.SendImmediate : ErdmaOpcode.SendInvalidate
    case "read":
      return operation.invalidatedStag === undefined ? ErdmaOpcode.Read : ErdmaOpcode.ReadInvalidate
    case "atomic":
      return operation.operation.kind === "fetchAdd" ? ErdmaOpcode.FetchAdd : ErdmaOpcode.CompareSwap
    case "register":
      return ErdmaOpcode.RegisterMemory
    case "invalidate":
      return ErdmaOpcode.LocalInvalidate
  }
}

/** Buffers of a SEND or WRITE, or its octets when they are inline. */
const countOf = (operation: ErdmaOperation): number => {
  if (!("payload" in operation)) return 0
  const { payload } = operation
  return payload.kind === "inline" ? payload.data.length : payload.buffers.length
}

const isInline = (operation: ErdmaOperation): boolean => "payload" in operation && operation.payload.kind === "inline"

const isMemory = (operation: ErdmaOperation): operation is ErdmaMemoryOperation =>
  operation.kind === "register" || operation.kind === "invalidate"

const dataBytes = (operation: ErdmaDataOperation): number => {
  const opcode = opcodeOf(operation)
  return payloadAt[opcode]! + payloadBytesOf(opcode, isInline(operation), countOf(operation))
}

/** Octets of the entry: whole blocks. */
export const erdmaSendBytes = ({ operation }: ErdmaSend): number => {
  const bytes = isMemory(operation) ? memoryBytes(operation) : dataBytes(operation)
  return Math.ceil(bytes / ERDMA_BLOCK_BYTES) * ERDMA_BLOCK_BYTES
}

export const emitErdmaSend = (value: ErdmaSend, octets: Uint8Array, start = 0): number => {
  const { operation, ...flags } = value
  const bytes = erdmaSendBytes(value)
  if (bytes > ERDMA_SEND_BYTES_MAX)
    throw new EmitError("erdmaSend", "payload", bytes, `an entry of at most ${ERDMA_SEND_BYTES_MAX} octets`)
  space(octets, start, bytes, "erdmaSend")
  octets.fill(0, start, start + bytes)
  const opcode = opcodeOf(operation)
  const blocks = bytes / ERDMA_BLOCK_BYTES - 1
  const header = { ...flags, inline: isInline(operation), opcode, blocks, count: countOf(operation) }
  writeFields(ERDMA_SEND, header, octets, start)
  if (isMemory(operation)) {
    putMemory(operation, octets, start)
    return start + bytes
  }
  const word = (at: number, found: number, field: string): void =>
    put32le(octets, start + at, uint(found, 32, "erdmaSend", field))
  const wide = (at: number, found: bigint, field: string): void =>
    put64le(octets, start + at, uint64(found, "erdmaSend", field))
  const place = (at: number, remote: ErdmaRemote): void => {
    word(at, remote.stag, "stag")
    wide(at + 4, remote.address, "address")
  }
  const buffer = (at: number, each: ErdmaBuffer): void => {
    wide(at, each.address, "address")
    word(at + 8, each.bytes, "bytes")
    word(at + 12, each.key, "key")
  }
  const from = payloadAt[opcode]!
  if (operation.kind === "atomic") {
    const { operation: atomic, remote, local } = operation
    wide(16, atomic.kind === "fetchAdd" ? atomic.add : atomic.swap, "data")
    wide(24, atomic.kind === "fetchAdd" ? 0n : atomic.compare, "compare")
    buffer(from, remote)
    buffer(from + BUFFER_BYTES, local)
    return start + bytes
  }
  word(12, operation.bytes, "bytes")
  if (operation.kind === "read") {
    word(8, operation.invalidatedStag ?? 0, "invalidatedStag")
    place(16, operation.sink)
    buffer(from, operation.source)
    return start + bytes
  }
  if (operation.kind === "write") {
    put32(octets, start + 8, uint(operation.immediate ?? 0, 32, "erdmaSend", "immediate"))
    place(16, operation.remote)
  } else if (operation.extra.kind === "immediate") {
    put32(octets, start + 8, uint(operation.extra.word, 32, "erdmaSend", "immediate"))
  } else if (operation.extra.kind === "invalidate") word(8, operation.extra.word, "invalidatedStag")
  const { payload } = operation
  if (payload.kind === "inline") octets.set(payload.data, start + from)
  else for (const [index, each] of payload.buffers.entries()) buffer(from + BUFFER_BYTES * index, each)
  return start + bytes
}
