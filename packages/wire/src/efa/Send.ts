import { type Layout, readFields, writeFields } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { space } from "../Octets.ts"
import { failed, leftoverFaults, type Parse, parsed, shortage } from "../Result.ts"
import { type EfaOperation, type EfaWideOperation, metaOf, operationOf, putOperation, type Size } from "./Operation.ts"

/** What entries of both sizes say. */
interface EfaEntry {
  /** Its low 16 bits. Queue pairs without 64-bit identifiers have no others. */
  readonly requestId: number
  /** Bits 16 to 63 of the identifier (`req_id_ex`), 0 where there are none. */
  readonly requestIdHigh: number
  /** Toggles each time the ring wraps. */
  readonly phase: boolean
  /** Whether a completion is asked for. */
  readonly signaled: boolean
  readonly destinationQp: number
  readonly addressHandle: number
  /** 2 bits (`efa_io_processing_hint`): 1 for bursts of many packets. */
  readonly processingHints: number
  readonly queueKey: number
  readonly immediate: number | undefined
}

/**
 * A send work-queue entry of Amazon's Elastic Fabric Adapter, 64 octets of device memory (efa_io_defs.h,
 * `efa_io_tx_wqe`). All numbers are little-endian.
 */
export interface EfaSend extends EfaEntry {
  readonly operation: EfaOperation
}

/** A send work-queue entry of 128 octets (`efa_io_tx_wqe_128`): more inline data, in writes too, and no more buffers. */
export interface EfaWideSend extends EfaEntry {
  readonly operation: EfaWideOperation
}

export const EFA_SEND_BYTES = 64
export const EFA_INLINE_BYTES_MAX = 32
export const EFA_WIDE_SEND_BYTES = 128
export const EFA_WIDE_INLINE_BYTES_MAX = 80

/** `signals` are two bits that announce a block of signals at the end of a wide entry; in the other they are reserved. */
const TEXT =
  "requestId:16 operation:4 hasImmediate:1 inline:1 _:1 meta:1 phase:1 _:1 first:1 last:1 signaled:1 _:1 signals:2 destinationQp:16 length:16 immediate:32 addressHandle:16 processingHints:2 _:14 queueKey:32 _:48 requestIdHigh:48"
export const EFA_SEND = /* @__PURE__ */ littleLayout("efaSend", TEXT)
export const EFA_WIDE_SEND = /* @__PURE__ */ littleLayout("efaWideSend", TEXT)

const NARROW: Size = {
  format: "efaSend",
  bytes: EFA_SEND_BYTES,
  inlineBytesMax: EFA_INLINE_BYTES_MAX,
  writesInline: false,
}
const WIDE: Size = {
  format: "efaWideSend",
  bytes: EFA_WIDE_SEND_BYTES,
  inlineBytesMax: EFA_WIDE_INLINE_BYTES_MAX,
  writesInline: true,
}

const parseEntry = (
  octets: Uint8Array,
  start: number,
  end: number,
  size: Size,
  layout: Layout<typeof TEXT>,
): Parse<EfaWideSend> => {
  const { format, bytes } = size
  const short = shortage(format, octets, start, end, bytes)
  if (short !== undefined) return short
  const meta = readFields(layout, octets, start)
  if (!meta.meta) return failed("value", format, "meta", start + 2, 0, "1")
  if (!meta.first || !meta.last)
    return failed("value", format, "first", start + 3, octets[start + 3]!, "first and last")
  if (size.writesInline && meta.signals !== 0)
    return failed("unsupported", format, "signals", start + 3, meta.signals, "0")
  const operation = operationOf(octets, start, meta, size)
  if ("ok" in operation) return operation
  const { requestId, requestIdHigh, phase, signaled, destinationQp, addressHandle, processingHints, queueKey } = meta
  const value: EfaWideSend = {
    requestId,
    requestIdHigh,
    phase,
    signaled,
    destinationQp,
    addressHandle,
    processingHints,
    queueKey,
    immediate: meta.hasImmediate ? meta.immediate : undefined,
    operation,
  }
  const again = new Uint8Array(bytes)
  emitEntry(value, again, 0, size, layout)
  return parsed(value, start + bytes, end, leftoverFaults(format, octets, start, again))
}

const emitEntry = (
  value: EfaWideSend,
  octets: Uint8Array,
  start: number,
  size: Size,
  layout: Layout<typeof TEXT>,
): number => {
  space(octets, start, size.bytes, size.format)
  const { immediate, operation, ...rest } = value
  const meta = {
    ...rest,
    ...metaOf(operation, size),
    hasImmediate: immediate !== undefined,
    immediate: immediate ?? 0,
    meta: true,
    first: true,
    last: true,
    signals: 0,
  }
  writeFields(layout, meta, octets, start)
  octets.fill(0, start + layout.bytes, start + size.bytes)
  putOperation(operation, octets, start, size)
  return start + size.bytes
}

/** Fails for an entry that does not call itself first, last and a metadata descriptor, and for other operations. */
export const parseEfaSend = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaSend> =>
  // Writes of inline data are refused at this size.
  parseEntry(octets, start, end, NARROW, EFA_SEND) as Parse<EfaSend>

export const emitEfaSend = (value: EfaSend, octets: Uint8Array, start = 0): number =>
  emitEntry(value, octets, start, NARROW, EFA_SEND)

/** As {@link parseEfaSend}; also fails for entries with signals: no public header says where in the entry they are. */
export const parseEfaWideSend = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaWideSend> =>
  parseEntry(octets, start, end, WIDE, EFA_WIDE_SEND)

export const emitEfaWideSend = (value: EfaWideSend, octets: Uint8Array, start = 0): number =>
  emitEntry(value, octets, start, WIDE, EFA_WIDE_SEND)
