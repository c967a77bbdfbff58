import { readFields } from "../Layout.ts"
import { littleLayout, put32le, put64le, u32le, u64le, writeLittleFields } from "../LittleLayout.ts"
import { EmitError, space, uint, uint64 } from "../Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"

/** Memory of the host. */
export interface EfaBuffer {
  readonly bytes: number
  /** 24 bits. */
  readonly localKey: number
  readonly address: bigint
}

/** What a work request does. */
export type EfaOperation =
  | {
      readonly kind: "send"
      /** At most two. */
      readonly buffers: ReadonlyArray<EfaBuffer>
    }
  | {
      /** The message itself, at most 32 octets, in place of buffers. */
      readonly kind: "sendInline"
      readonly data: Uint8Array
    }
  | {
      readonly kind: "read" | "write"
      readonly remote: { readonly bytes: number; readonly key: number; readonly address: bigint }
      readonly local: EfaBuffer
    }

/**
 * A send work-queue entry of Amazon's Elastic Fabric Adapter, 64 octets of device memory (efa_io_defs.h,
 * `efa_io_tx_wqe`). All numbers are little-endian.
 */
export interface EfaSend {
  readonly requestId: number
  /** Toggles each time the ring wraps. */
  readonly phase: boolean
  /** Whether a completion is asked for. */
  readonly signaled: boolean
  readonly destinationQp: number
  readonly addressHandle: number
  readonly queueKey: number
  readonly immediate: number | undefined
  readonly operation: EfaOperation
}

export const EFA_SEND_BYTES = 64
export const EFA_INLINE_BYTES_MAX = 32
const META_BYTES = 32
const SEND = 0
const READ = 1
const WRITE = 2

export const EFA_SEND = /* @__PURE__ */ littleLayout(
  "efaSend",
  "requestId:16 operation:4 hasImmediate:1 inline:1 _:1 meta:1 phase:1 _:1 first:1 last:1 signaled:1 _:3 destinationQp:16 length:16 immediate:32 addressHandle:16 _:16 queueKey:32 _:48 _:48",
)

const bufferOf = (octets: Uint8Array, at: number): EfaBuffer => ({
  bytes: u32le(octets, at),
  localKey: u32le(octets, at + 4) & 0xffffff,
  address: u64le(octets, at + 8),
})

const putBuffer = ({ bytes, localKey, address }: EfaBuffer, octets: Uint8Array, at: number): void => {
  put32le(octets, at, uint(bytes, 32, "efaSend", "bytes"))
  put32le(octets, at + 4, uint(localKey, 24, "efaSend", "localKey"))
  put64le(octets, at + 8, uint64(address, "efaSend", "address"))
}

/** Fails for an entry that does not call itself first, last and a metadata descriptor, and for other operations. */
export const parseEfaSend = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaSend> => {
  const short = shortage("efaSend", octets, start, end, EFA_SEND_BYTES)
  if (short !== undefined) return short
  const meta = readFields(EFA_SEND, octets, start)
  if (!meta.meta) return failed("value", "efaSend", "meta", start + 2, 0, "1")
  if (!meta.first || !meta.last)
    return failed("value", "efaSend", "first", start + 3, octets[start + 3]!, "first and last")
  if (meta.operation > WRITE) return failed("reserved", "efaSend", "operation", start + 2, meta.operation, "0 to 2")
  if (meta.operation !== SEND && meta.inline)
    return failed("value", "efaSend", "inline", start + 2, 1, "0 but for a send")
  const most = meta.operation !== SEND ? 1 : meta.inline ? EFA_INLINE_BYTES_MAX : 2
  if (meta.length > most || (meta.operation !== SEND && meta.length !== 1))
    return failed("length", "efaSend", "length", start + 6, meta.length, `at most ${most}`)
  const faults: Array<WireError> = []
  const unused = (from: number, to: number, mask = 0xff): void => {
    for (let at = from; at < to; at++) {
      const found = octets[at]! & mask
      if (found !== 0) faults.push(wrong("ignored", "efaSend", "reserved", at, found, "0"))
    }
  }
  unused(start + 2, start + 3, 0x40)
  unused(start + 3, start + 4, 0xe2)
  if (!meta.hasImmediate) unused(start + 8, start + 12)
  unused(start + 14, start + 16)
  unused(start + 20, start + META_BYTES)
  const at = start + META_BYTES
  let operation: EfaOperation
  if (meta.operation !== SEND) {
    const remote = { bytes: u32le(octets, at), key: u32le(octets, at + 4), address: u64le(octets, at + 8) }
    operation = { kind: meta.operation === READ ? "read" : "write", remote, local: bufferOf(octets, at + 16) }
    unused(at + 23, at + 24)
  } else if (meta.inline) {
    operation = { kind: "sendInline", data: octets.subarray(at, at + meta.length) }
    unused(at + meta.length, at + EFA_INLINE_BYTES_MAX)
  } else {
    const buffers: Array<EfaBuffer> = []
    for (let index = 0; index < meta.length; index++) {
      buffers.push(bufferOf(octets, at + 16 * index))
      unused(at + 16 * index + 7, at + 16 * index + 8)
    }
    operation = { kind: "send", buffers }
    unused(at + 16 * meta.length, at + 32)
  }
  const { requestId, phase, signaled, destinationQp, addressHandle, queueKey } = meta
  const immediate = meta.hasImmediate ? meta.immediate : undefined
  const value = { requestId, phase, signaled, destinationQp, addressHandle, queueKey, immediate, operation }
  return parsed(value, start + EFA_SEND_BYTES, end, faults)
}

export const emitEfaSend = (value: EfaSend, octets: Uint8Array, start = 0): number => {
  space(octets, start, EFA_SEND_BYTES, "efaSend")
  const { immediate, operation, ...rest } = value
  const isInline = operation.kind === "sendInline"
  const length = isInline ? operation.data.length : operation.kind === "send" ? operation.buffers.length : 1
  const most = isInline ? EFA_INLINE_BYTES_MAX : 2
  if (length > most) throw new EmitError("efaSend", isInline ? "data" : "buffers", length, `at most ${most}`)
  const meta = {
    ...rest,
    operation: operation.kind === "read" ? READ : operation.kind === "write" ? WRITE : SEND,
    hasImmediate: immediate !== undefined,
    immediate: immediate ?? 0,
    inline: isInline,
    meta: true,
    first: true,
    last: true,
    length,
  }
  writeLittleFields(EFA_SEND, meta, octets, start)
  const at = start + META_BYTES
  octets.fill(0, at, start + EFA_SEND_BYTES)
  if (operation.kind === "sendInline") octets.set(operation.data, at)
  else if (operation.kind === "send") {
    for (const [index, buffer] of operation.buffers.entries()) putBuffer(buffer, octets, at + 16 * index)
  } else {
    put32le(octets, at, uint(operation.remote.bytes, 32, "efaSend", "remote.bytes"))
    put32le(octets, at + 4, uint(operation.remote.key, 32, "efaSend", "remote.key"))
    put64le(octets, at + 8, uint64(operation.remote.address, "efaSend", "remote.address"))
    putBuffer(operation.local, octets, at + 16)
  }
  return start + EFA_SEND_BYTES
}
