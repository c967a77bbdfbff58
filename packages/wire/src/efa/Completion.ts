import { readFields, reservedFaults } from "../Layout.ts"
import { littleLayout, writeLittleFields } from "../LittleLayout.ts"
import { space } from "../Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"

interface EfaCompletion {
  /** As the work request has it. */
  readonly requestId: number
  /** 8 bits; {@link efaStatusText} has it in words. */
  readonly status: number
  /** Toggles each time the ring wraps. */
  readonly phase: boolean
  readonly qp: number
  /** 0 send, 1 READ, 2 write. */
  readonly operation: number
}

/** The completion of a send work request, 8 octets (efa_io_defs.h, `efa_io_tx_cdesc`). */
export type EfaSendCompletion = EfaCompletion

/** The completion of a receive, 16 octets (`efa_io_rx_cdesc`). */
export interface EfaReceiveCompletion extends EfaCompletion {
  readonly unsolicited: boolean
  readonly bytes: number
  /** Of the sender; undefined when this host has none for it. */
  readonly addressHandle: number | undefined
  readonly sourceQp: number
  readonly immediate: number | undefined
}

export const EFA_SEND_COMPLETION_BYTES = 8
export const EFA_RECEIVE_COMPLETION_BYTES = 16
const SEND_QUEUE = 1
const RECEIVE_QUEUE = 2
const NO_HANDLE = 0xffff

const COMMON = "requestId:16 status:8 phase:1 queue:2 hasImmediate:1 operation:3 unsolicited:1 qp:16"
export const EFA_SEND_COMPLETION = /* @__PURE__ */ littleLayout("efaSendCompletion", `${COMMON} _:16`)
export const EFA_RECEIVE_COMPLETION = /* @__PURE__ */ littleLayout(
  "efaReceiveCompletion",
  `${COMMON} bytes:16 handle:16 sourceQp:16 immediate:32`,
)

/** Fails for the completion of another queue. */
export const parseEfaSendCompletion = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<EfaSendCompletion> => {
  const layout = EFA_SEND_COMPLETION
  const short = shortage(layout.format, octets, start, end, layout.bytes)
  if (short !== undefined) return short
  const { queue, hasImmediate, unsolicited, ...value } = readFields(layout, octets, start)
  if (queue !== SEND_QUEUE) return failed("value", layout.format, "queue", start + 3, queue, "1")
  const faults: Array<WireError> = [...reservedFaults(layout, octets, start)]
  const extra = Number(hasImmediate) + Number(unsolicited)
  if (extra > 0) faults.push(wrong("ignored", layout.format, "flags", start + 3, extra, "0"))
  return parsed<EfaSendCompletion>(value, start + layout.bytes, end, faults)
}

export const emitEfaSendCompletion = (value: EfaSendCompletion, octets: Uint8Array, start = 0): number => {
  const layout = EFA_SEND_COMPLETION
  space(octets, start, layout.bytes, layout.format)
  const fields = { ...value, queue: SEND_QUEUE, hasImmediate: false, unsolicited: false }
  writeLittleFields(layout, fields, octets, start)
  return start + layout.bytes
}

/** Fails for the completion of another queue. */
export const parseEfaReceiveCompletion = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<EfaReceiveCompletion> => {
  const layout = EFA_RECEIVE_COMPLETION
  const short = shortage(layout.format, octets, start, end, layout.bytes)
  if (short !== undefined) return short
  const { queue, hasImmediate, handle, immediate, ...rest } = readFields(layout, octets, start)
  if (queue !== RECEIVE_QUEUE) return failed("value", layout.format, "queue", start + 3, queue, "2")
  const isStray = !hasImmediate && immediate !== 0
  const faults = isStray ? [wrong("ignored", layout.format, "immediate", start + 12, immediate, "0")] : []
  const value: EfaReceiveCompletion = {
    ...rest,
    addressHandle: handle === NO_HANDLE ? undefined : handle,
    immediate: hasImmediate ? immediate : undefined,
  }
  return parsed(value, start + layout.bytes, end, faults)
}

export const emitEfaReceiveCompletion = (value: EfaReceiveCompletion, octets: Uint8Array, start = 0): number => {
  const layout = EFA_RECEIVE_COMPLETION
  space(octets, start, layout.bytes, layout.format)
  const { addressHandle, immediate, ...rest } = value
  const fields = {
    ...rest,
    queue: RECEIVE_QUEUE,
    hasImmediate: immediate !== undefined,
    handle: addressHandle ?? NO_HANDLE,
    immediate: immediate ?? 0,
  }
  writeLittleFields(layout, fields, octets, start)
  return start + layout.bytes
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
