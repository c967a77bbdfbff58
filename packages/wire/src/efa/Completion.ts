import { type Layout, readFields, reservedFaults } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { EmitError, put16le, u16le, uint } from "../Octets.ts"
import { emitPlain } from "../Plain.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"
import { EfaOpcode } from "./Operation.ts"

interface EfaCompletion {
  /** As the work request has it. */
  readonly requestId: number
  /** 8 bits; {@link efaStatusText} has it in words. */
  readonly status: number
  /** Toggles each time the ring wraps. */
  readonly phase: boolean
  readonly qp: number
  /** 3 bits, see `EfaOpcode`. */
  readonly operation: number
}

/**
 * The completion of a send work request, 8 octets (efa_io_defs.h of Linux, `efa_io_tx_cdesc`). Entries of the ring have
 * 16 or 32; what follows is not written.
 */
export type EfaSendCompletion = EfaCompletion

/** The completion of a send work request whose identifier has 64 bits, 16 octets (`efa_io_tx_cdesc` with `req_id_ex`). */
export interface EfaExtendedSendCompletion extends EfaCompletion {
  /** Bits 16 to 63 of the identifier. */
  readonly requestIdHigh: number
}

/** The completion of a receive, 16 octets (`efa_io_rx_cdesc`). */
export interface EfaReceiveCompletion extends EfaCompletion {
  readonly unsolicited: boolean
  readonly bytes: number
  /** Of the sender; undefined when this host has none for it. */
  readonly addressHandle: number | undefined
  readonly sourceQp: number
  readonly immediate: number | undefined
}

/** The completion of a receive in a ring of 32-octet entries (`efa_io_rx_cdesc_ex`). `bytes` has 32 bits for a write. */
export interface EfaExtendedReceiveCompletion extends EfaReceiveCompletion {
  /**
   * 16 octets, the sender's GID: there when its address handle is not, but for a write, whose length takes the place.
   * Means something only where the queue was made to tell addresses.
   */
  readonly sourceAddress: Uint8Array | undefined
}

export const EFA_SEND_COMPLETION_BYTES = 8
export const EFA_EXTENDED_SEND_COMPLETION_BYTES = 16
export const EFA_RECEIVE_COMPLETION_BYTES = 16
export const EFA_EXTENDED_RECEIVE_COMPLETION_BYTES = 32
const SEND_QUEUE = 1
const RECEIVE_QUEUE = 2
const NO_HANDLE = 0xffff

const COMMON = "requestId:16 status:8 phase:1 queue:2 hasImmediate:1 operation:3 unsolicited:1 qp:16"
export const EFA_SEND_COMPLETION = /* @__PURE__ */ littleLayout("efaSendCompletion", `${COMMON} _:16`)
export const EFA_EXTENDED_SEND_COMPLETION = /* @__PURE__ */ littleLayout(
  "efaExtendedSendCompletion",
  `${COMMON} requestIdHigh:48 _:32`,
)
export const EFA_RECEIVE_COMPLETION = /* @__PURE__ */ littleLayout(
  "efaReceiveCompletion",
  `${COMMON} bytes:16 handle:16 sourceQp:16 immediate:32`,
)
/** `extension` is the high half of a write's length, or the sender's address. */
export const EFA_EXTENDED_RECEIVE_COMPLETION = /* @__PURE__ */ littleLayout(
  "efaExtendedReceiveCompletion",
  `${COMMON} bytesLow:16 handle:16 sourceQp:16 immediate:32 extension:16B`,
)

/** Reads the completion of a send of either size: its fields but the flags are those of the value. */
const parseSent = (
  layout: Layout<typeof COMMON>,
  octets: Uint8Array,
  start: number,
  end: number,
): Parse<EfaCompletion> => {
  const short = shortage(layout.format, octets, start, end, layout.bytes)
  if (short !== undefined) return short
  const { queue, hasImmediate, unsolicited, ...value } = readFields(layout, octets, start)
  if (queue !== SEND_QUEUE) return failed("value", layout.format, "queue", start + 3, queue, "1")
  const faults: Array<WireError> = [...reservedFaults(layout, octets, start)]
  const extra = Number(hasImmediate) + Number(unsolicited)
  if (extra > 0) faults.push(wrong("ignored", layout.format, "flags", start + 3, extra, "0"))
  return parsed<EfaCompletion>(value, start + layout.bytes, end, faults)
}

const emitSent = (layout: Layout<typeof COMMON>, value: EfaCompletion, octets: Uint8Array, start: number): number =>
  emitPlain(layout, { ...value, queue: SEND_QUEUE, hasImmediate: false, unsolicited: false }, octets, start)

/** Fails for the completion of another queue. */
export const parseEfaSendCompletion = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaSendCompletion> =>
  parseSent(EFA_SEND_COMPLETION, octets, start, end)

export const emitEfaSendCompletion = (value: EfaSendCompletion, octets: Uint8Array, start = 0): number =>
  emitSent(EFA_SEND_COMPLETION, value, octets, start)

/** Fails for the completion of another queue. */
export const parseEfaExtendedSendCompletion = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<EfaExtendedSendCompletion> =>
  parseSent(EFA_EXTENDED_SEND_COMPLETION, octets, start, end) as Parse<EfaExtendedSendCompletion>

export const emitEfaExtendedSendCompletion = (
  value: EfaExtendedSendCompletion,
  octets: Uint8Array,
  start = 0,
): number => emitSent(EFA_EXTENDED_SEND_COMPLETION, value, octets, start)

/** Reads the sixteen octets that begin the completion of a receive of either size. */
const parseReceived = (
  { format, bytes }: Layout,
  octets: Uint8Array,
  start: number,
  end: number,
): Parse<EfaReceiveCompletion> => {
  const short = shortage(format, octets, start, end, bytes)
  if (short !== undefined) return short
  const { queue, hasImmediate, handle, immediate, ...rest } = readFields(EFA_RECEIVE_COMPLETION, octets, start)
  if (queue !== RECEIVE_QUEUE) return failed("value", format, "queue", start + 3, queue, "2")
  const isStray = !hasImmediate && immediate !== 0
  const faults = isStray ? [wrong("ignored", format, "immediate", start + 12, immediate, "0")] : []
  const value: EfaReceiveCompletion = {
    ...rest,
    addressHandle: handle === NO_HANDLE ? undefined : handle,
    immediate: hasImmediate ? immediate : undefined,
  }
  return parsed(value, start + bytes, end, faults)
}

/** The fields of the layout in place of what may be undefined. */
const receivedFields = <A extends EfaReceiveCompletion>({ addressHandle, immediate, ...rest }: A) => ({
  ...rest,
  queue: RECEIVE_QUEUE,
  hasImmediate: immediate !== undefined,
  handle: addressHandle ?? NO_HANDLE,
  immediate: immediate ?? 0,
})

/** Fails for the completion of another queue. */
export const parseEfaReceiveCompletion = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<EfaReceiveCompletion> => parseReceived(EFA_RECEIVE_COMPLETION, octets, start, end)

export const emitEfaReceiveCompletion = (value: EfaReceiveCompletion, octets: Uint8Array, start = 0): number =>
  emitPlain(EFA_RECEIVE_COMPLETION, receivedFields(value), octets, start)

const EXTENSION_AT = 16

/** Fails for the completion of another queue. What is in the second half and says nothing is a fault. */
export const parseEfaExtendedReceiveCompletion = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<EfaExtendedReceiveCompletion> => {
  const layout = EFA_EXTENDED_RECEIVE_COMPLETION
  const first = parseReceived(layout, octets, start, end)
  if (!first.ok) return first
  const { addressHandle, operation, bytes } = first.value
  const extension = octets.slice(start + EXTENSION_AT, start + layout.bytes)
  const isWrite = operation === EfaOpcode.Write
  const isAddressed = !isWrite && addressHandle === undefined
  const faults: Array<WireError> = [...first.faults]
  for (let at = isWrite ? 2 : 0; !isAddressed && at < extension.length; at++) {
    const found = extension[at]!
    if (found !== 0) faults.push(wrong("ignored", layout.format, "extension", start + EXTENSION_AT + at, found, "0"))
  }
  const value: EfaExtendedReceiveCompletion = {
    ...first.value,
    bytes: isWrite ? bytes + 0x1_0000 * u16le(extension, 0) : bytes,
    sourceAddress: isAddressed ? extension : undefined,
  }
  return parsed(value, start + layout.bytes, end, faults)
}

export const emitEfaExtendedReceiveCompletion = (
  value: EfaExtendedReceiveCompletion,
  octets: Uint8Array,
  start = 0,
): number => {
  const layout = EFA_EXTENDED_RECEIVE_COMPLETION
  const { bytes, sourceAddress } = value
  const isWrite = value.operation === EfaOpcode.Write
  const isAddressed = !isWrite && value.addressHandle === undefined
  if ((sourceAddress !== undefined) !== isAddressed)
    throw new EmitError(layout.format, "sourceAddress", sourceAddress?.length ?? 0, isAddressed ? "16 octets" : "none")
  const high = Math.floor(uint(bytes, isWrite ? 32 : 16, layout.format, "bytes") / 0x1_0000)
  const extension = sourceAddress ?? new Uint8Array(16)
  if (isWrite) put16le(extension, 0, high)
  return emitPlain(layout, { ...receivedFields(value), bytesLow: bytes % 0x1_0000, extension }, octets, start)
}

const statuses: Readonly<Record<number, string>> = {
  0: "done",
  1: "flushed when the queue pair was destroyed",
  2: "local: internal error of the queue pair",
  3: "local: unsupported operation",
  4: "local: bad address handle",
  5: "local: key not registered, or not for this address",
  6: "local: message too long",
  7: "remote: bad address, or the peer is down",
  8: "remote: reset by the peer",
  9: "remote: no such queue pair, or in error",
  10: "remote: no receive posted",
  11: "remote: receive buffers too short",
  12: "remote: unexpected status",
  13: "local: the peer does not respond",
  14: "local: unknown peer",
  15: "local: the peer cannot be reached",
  18: "features of the two ends differ",
}

/** A status in words: "remote: no receive posted". */
export const efaStatusText = (status: number): string => statuses[status] ?? `status ${status}`
