import fc from "fast-check"
import {
  EFA_EXTENDED_RECEIVE_COMPLETION,
  EFA_EXTENDED_SEND_COMPLETION,
  EFA_RECEIVE,
  EFA_RECEIVE_COMPLETION,
  EFA_SEND,
  EFA_SEND_COMPLETION,
  EFA_WIDE_SEND,
  type EfaExtendedReceiveCompletion,
  type EfaSend,
  type EfaWideSend,
  emitEfaExtendedReceiveCompletion,
  emitEfaExtendedSendCompletion,
  emitEfaReceive,
  emitEfaReceiveCompletion,
  emitEfaSend,
  emitEfaSendCompletion,
  emitEfaWideSend,
  parseEfaExtendedReceiveCompletion,
  parseEfaExtendedSendCompletion,
  parseEfaReceive,
  parseEfaReceiveCompletion,
  parseEfaSend,
  parseEfaSendCompletion,
  parseEfaWideSend,
} from "../../src/Efa.ts"
import {
  ERDMA_COMPLETION,
  ERDMA_COMPLETION_DOORBELL,
  ERDMA_EVENT_DOORBELL,
  ERDMA_RECEIVE,
  ERDMA_SEND,
  ERDMA_SEND_DOORBELL,
  type ErdmaCompletion,
  type ErdmaSend,
  emitErdmaCompletion,
  emitErdmaCompletionDoorbell,
  emitErdmaEventDoorbell,
  emitErdmaReceive,
  emitErdmaSend,
  emitErdmaSendDoorbell,
  parseErdmaCompletion,
  parseErdmaCompletionDoorbell,
  parseErdmaEventDoorbell,
  parseErdmaReceive,
  parseErdmaSend,
  parseErdmaSendDoorbell,
} from "../../src/Erdma.ts"
import { bits, flag, octets, u8, u16, u24, u32, u64 } from "../arbitrary.ts"
import { format } from "../format.ts"

const is = <K extends string>(kind: K) => fc.constant(kind)
const perhaps = (each: fc.Arbitrary<number>) => fc.option(each, { nil: undefined })

const efaBuffer = fc.record({ bytes: u32, localKey: u24, address: u64 })
const efaEntry = {
  requestId: u16,
  requestIdHigh: bits(48),
  phase: flag,
  signaled: flag,
  destinationQp: u16,
  addressHandle: u16,
  processingHints: bits(2),
  queueKey: u32,
  immediate: perhaps(u32),
}
const efaOperations = (inlineBytes: number) =>
  fc.oneof(
    fc.record({ kind: is("send"), buffers: fc.array(efaBuffer, { maxLength: 2 }) }),
    fc.record({ kind: is("sendInline"), data: fc.uint8Array({ maxLength: inlineBytes }) }),
    fc.record({
      kind: fc.constantFrom("read" as const, "write" as const),
      remote: fc.record({ bytes: u32, key: u32, address: u64 }),
      local: efaBuffer,
    }),
    fc.record({
      kind: is("register"),
      localKey: u32,
      localWrite: flag,
      remoteWrite: flag,
      remoteRead: flag,
      pageShift: bits(5),
      address: u64,
      bytes: u64,
      pages: fc.record({ kind: fc.constantFrom("page" as const, "list" as const), address: u64 }),
    }),
    fc.record({ kind: is("invalidate"), localKey: u32 }),
  )
const efaSend: fc.Arbitrary<EfaSend> = fc.record({ ...efaEntry, operation: efaOperations(32) })
const efaWideSend: fc.Arbitrary<EfaWideSend> = fc.record({
  ...efaEntry,
  operation: fc.oneof(
    efaOperations(80),
    fc.record({
      kind: is("writeInline"),
      remote: fc.record({ key: u32, address: u64 }),
      data: fc.uint8Array({ maxLength: 80 }),
    }),
  ),
})
const efaCompletion = { requestId: u16, status: u8, phase: flag, qp: u16, operation: bits(3) }
const efaReceiveCompletion = {
  ...efaCompletion,
  unsolicited: flag,
  bytes: u16,
  addressHandle: perhaps(fc.nat(0xfffe)),
  sourceQp: u16,
  immediate: perhaps(u32),
}
const efaExtendedReceiveCompletion: fc.Arbitrary<EfaExtendedReceiveCompletion> = fc
  .record({ ...efaReceiveCompletion, high: u16, address: octets(16) })
  .map(({ high, address, ...rest }) => ({
    ...rest,
    bytes: rest.operation === 2 ? rest.bytes + 0x1_0000 * high : rest.bytes,
    sourceAddress: rest.operation !== 2 && rest.addressHandle === undefined ? address : undefined,
  }))

const erdmaBuffer = fc.record({ address: u64, bytes: u32, key: u32 })
const remote = fc.record({ stag: u32, address: u64 })
const payload = (buffers: number, octets: number) =>
  fc.oneof(
    fc.record({ kind: is("buffers"), buffers: fc.array(erdmaBuffer, { maxLength: buffers }) }),
    fc.record({ kind: is("inline"), data: fc.uint8Array({ maxLength: octets }) }),
  )
const erdmaSend: fc.Arbitrary<ErdmaSend> = fc.record({
  index: u16,
  qp: bits(20),
  signaled: flag,
  solicited: flag,
  fence: flag,
  direct: flag,
  operation: fc.oneof(
    fc.record({ kind: is("write"), immediate: perhaps(u32), bytes: u32, remote, payload: payload(6, 96) }),
    fc.record({
      kind: is("send"),
      extra: fc.oneof(
        fc.record({ kind: is("none") }),
        fc.record({ kind: fc.constantFrom("immediate" as const, "invalidate" as const), word: u32 }),
      ),
      bytes: u32,
      payload: payload(7, 112),
    }),
    fc.record({ kind: is("read"), invalidatedStag: perhaps(u32), bytes: u32, sink: remote, source: erdmaBuffer }),
    fc.record({
      kind: is("atomic"),
      operation: fc.oneof(
        fc.record({ kind: is("compareSwap"), compare: u64, swap: u64 }),
        fc.record({ kind: is("fetchAdd"), add: u64 }),
      ),
      remote: erdmaBuffer,
      local: erdmaBuffer,
    }),
    fc.record({
      kind: is("register"),
      stag: u32,
      address: u64,
      bytes: u32,
      rights: fc.record({
        remoteAtomic: flag,
        localRead: flag,
        localWrite: flag,
        remoteRead: flag,
        remoteWrite: flag,
      }),
      pages: fc.oneof(
        fc.record({ kind: is("inline"), addresses: fc.array(u64, { maxLength: 4 }) }),
        fc.record({ kind: is("indirect"), count: bits(20) }),
      ),
    }),
    fc.record({ kind: is("invalidate"), stag: u32 }),
  ),
})
const erdmaCompletion: fc.Arbitrary<ErdmaCompletion> = fc
  .record({
    owner: flag,
    opcode: fc.nat(18),
    queue: fc.constantFrom("send" as const, "receive" as const, "command" as const),
    syndrome: u8,
    index: u32,
    qp: u32,
    word: u32,
    bytes: u32,
  })
  .map(({ word, ...rest }) => ({
    ...rest,
    notice:
      rest.opcode === 5 || rest.opcode === 12
        ? { kind: "immediate", immediate: word }
        : rest.opcode === 6
          ? { kind: "invalidated", remoteKey: word }
          : { kind: "none" },
  }))

export const formats = [
  format({
    name: "efaSend",
    parse: parseEfaSend,
    emit: emitEfaSend,
    arbitrary: efaSend,
    layout: EFA_SEND,
    bytesMax: 64,
  }),
  format({
    name: "efaWideSend",
    parse: parseEfaWideSend,
    emit: emitEfaWideSend,
    arbitrary: efaWideSend,
    layout: EFA_WIDE_SEND,
    bytesMax: 128,
  }),
  format({
    name: "efaReceive",
    parse: parseEfaReceive,
    emit: emitEfaReceive,
    arbitrary: fc.record({ address: u64, requestId: u16, bytes: u16, localKey: u24, first: flag, last: flag }),
    layout: EFA_RECEIVE,
    bytesMax: 16,
  }),
  format({
    name: "efaSendCompletion",
    parse: parseEfaSendCompletion,
    emit: emitEfaSendCompletion,
    arbitrary: fc.record(efaCompletion),
    layout: EFA_SEND_COMPLETION,
    bytesMax: 8,
  }),
  format({
    name: "efaReceiveCompletion",
    parse: parseEfaReceiveCompletion,
    emit: emitEfaReceiveCompletion,
    arbitrary: fc.record(efaReceiveCompletion),
    layout: EFA_RECEIVE_COMPLETION,
    bytesMax: 16,
  }),
  format({
    name: "efaExtendedSendCompletion",
    parse: parseEfaExtendedSendCompletion,
    emit: emitEfaExtendedSendCompletion,
    arbitrary: fc.record({ ...efaCompletion, requestIdHigh: bits(48) }),
    layout: EFA_EXTENDED_SEND_COMPLETION,
    bytesMax: 16,
  }),
  format({
    name: "efaExtendedReceiveCompletion",
    parse: parseEfaExtendedReceiveCompletion,
    emit: emitEfaExtendedReceiveCompletion,
    arbitrary: efaExtendedReceiveCompletion,
    layout: EFA_EXTENDED_RECEIVE_COMPLETION,
    bytesMax: 32,
  }),
  format({
    name: "erdmaSend",
    parse: parseErdmaSend,
    emit: emitErdmaSend,
    arbitrary: erdmaSend,
    layout: ERDMA_SEND,
    bytesMax: 128,
  }),
  format({
    name: "erdmaReceive",
    parse: parseErdmaReceive,
    emit: emitErdmaReceive,
    arbitrary: fc.record({ index: u16, qp: u32, address: u64, bytes: u32, stag: u32 }),
    layout: ERDMA_RECEIVE,
    bytesMax: 32,
  }),
  format({
    name: "erdmaCompletion",
    parse: parseErdmaCompletion,
    emit: emitErdmaCompletion,
    arbitrary: erdmaCompletion,
    layout: ERDMA_COMPLETION,
    bytesMax: 32,
  }),
  format({
    name: "erdmaSendDoorbell",
    parse: parseErdmaSendDoorbell,
    emit: emitErdmaSendDoorbell,
    arbitrary: fc.record({ index: u16, qp: bits(20) }),
    layout: ERDMA_SEND_DOORBELL,
    bytesMax: 8,
  }),
  format({
    name: "erdmaCompletionDoorbell",
    parse: parseErdmaCompletionDoorbell,
    emit: emitErdmaCompletionDoorbell,
    arbitrary: fc.record({ consumer: u24, armSequence: bits(2), solicited: flag, arm: flag, queue: u24, index: u8 }),
    layout: ERDMA_COMPLETION_DOORBELL,
    bytesMax: 8,
  }),
  format({
    name: "erdmaEventDoorbell",
    parse: parseErdmaEventDoorbell,
    emit: emitErdmaEventDoorbell,
    arbitrary: fc.record({ consumer: u24, arm: flag }),
    layout: ERDMA_EVENT_DOORBELL,
    bytesMax: 8,
  }),
]
