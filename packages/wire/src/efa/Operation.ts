import { type FieldsOf, readFields, writeFields } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { EmitError, put32le, put64le, u32le, u64le, uint, uint64 } from "../Octets.ts"
import { type Failed, failed } from "../Result.ts"

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
      /** The message itself in place of buffers, at most 32 octets, or 80 in a wide entry. */
      readonly kind: "sendInline"
      readonly data: Uint8Array
    }
  | {
      readonly kind: "read" | "write"
      readonly remote: { readonly bytes: number; readonly key: number; readonly address: bigint }
      readonly local: EfaBuffer
    }
  | {
      /** Registers memory under a key that is there already (`efa_io_fast_mr_reg_req`). */
      readonly kind: "register"
      /** 32 bits. */
      readonly localKey: number
      readonly localWrite: boolean
      readonly remoteWrite: boolean
      readonly remoteRead: boolean
      /** Pages have 2 to this power octets, 0 to 31. */
      readonly pageShift: number
      /** Of the first octet, as work requests name it. */
      readonly address: bigint
      /** 64 bits. */
      readonly bytes: bigint
      /** The only page, or where the list of pages is; both are bus addresses. */
      readonly pages: { readonly kind: "page" | "list"; readonly address: bigint }
    }
  | {
      /** Makes a key useless (`efa_io_fast_mr_inv_req`). */
      readonly kind: "invalidate"
      /** 32 bits. */
      readonly localKey: number
    }

/** What a work request of 128 octets does: it also writes what it carries itself. */
export type EfaWideOperation =
  | EfaOperation
  | {
      readonly kind: "writeInline"
      readonly remote: { readonly key: number; readonly address: bigint }
      /** At most 80 octets. */
      readonly data: Uint8Array
    }

/** Operation codes of work requests and completions (`efa_io_send_op_type`). */
export const EfaOpcode = { Send: 0, Read: 1, Write: 2, Register: 3, Invalidate: 4 } as const

/** What differs between entries of 64 octets and of 128. */
export interface Size {
  readonly format: string
  readonly bytes: number
  readonly inlineBytesMax: number
  readonly writesInline: boolean
}

/** What the metadata say of the operation; `length` counts buffers, or octets when the data are inline. */
interface Meta {
  readonly operation: number
  readonly inline: boolean
  readonly length: number
}

const META_BYTES = 32
const BUFFER_BYTES = 16
const BUFFERS_MAX = 2
/** Of the inline data of a write: behind the address of the peer's memory. */
const WRITE_DATA_AT = META_BYTES + BUFFER_BYTES
const LIST = 1
const MODE_AT = META_BYTES + 5

const REGISTRATION_TEXT =
  "localKey:32 localWrite:1 remoteWrite:1 remoteRead:1 _:5 pageShift:5 pageMode:2 _:1 _:16 address:64 bytes:64 pages:64"
const REGISTRATION = /* @__PURE__ */ littleLayout("efaSend", REGISTRATION_TEXT)

const bufferOf = (octets: Uint8Array, at: number): EfaBuffer => ({
  bytes: u32le(octets, at),
  localKey: u32le(octets, at + 4) & 0xffffff,
  address: u64le(octets, at + 8),
})

const putBuffer = ({ bytes, localKey, address }: EfaBuffer, octets: Uint8Array, at: number, format: string): void => {
  put32le(octets, at, uint(bytes, 32, format, "bytes"))
  put32le(octets, at + 4, uint(localKey, 24, format, "localKey"))
  put64le(octets, at + 8, uint64(address, format, "address"))
}

const isInline = (operation: EfaWideOperation): operation is EfaWideOperation & { readonly data: Uint8Array } =>
  operation.kind === "sendInline" || operation.kind === "writeInline"

const codes: Readonly<Record<EfaWideOperation["kind"], number>> = {
  send: EfaOpcode.Send,
  sendInline: EfaOpcode.Send,
  read: EfaOpcode.Read,
  write: EfaOpcode.Write,
  writeInline: EfaOpcode.Write,
  register: EfaOpcode.Register,
  invalidate: EfaOpcode.Invalidate,
}

const lengthOf = (operation: EfaWideOperation): number => {
  if (isInline(operation)) return operation.data.length
  if (operation.kind === "send") return operation.buffers.length
  return operation.kind === "read" || operation.kind === "write" ? 1 : 0
}

/** What the metadata of an operation have to say. Throws an `EmitError` for more data than an entry holds. */
export const metaOf = (operation: EfaWideOperation, { format, inlineBytesMax }: Size): Meta => {
  const inline = isInline(operation)
  const length = lengthOf(operation)
  const most = inline ? inlineBytesMax : BUFFERS_MAX
  if (length > most) throw new EmitError(format, inline ? "data" : "buffers", length, `at most ${most}`)
  return { operation: codes[operation.kind], inline, length }
}

/** Reads the operation of an entry that is all there and starts at `start`. */
export const operationOf = (
  octets: Uint8Array,
  start: number,
  meta: Meta,
  { format, inlineBytesMax, writesInline }: Size,
): EfaWideOperation | Failed => {
  const { operation, inline, length } = meta
  const at = start + META_BYTES
  if (operation > EfaOpcode.Invalidate) return failed("reserved", format, "operation", start + 2, operation, "0 to 4")
  if (inline && operation !== EfaOpcode.Send && !(writesInline && operation === EfaOpcode.Write))
    return failed(
      "value",
      format,
      "inline",
      start + 2,
      1,
      writesInline ? "0 but for a send or write" : "0 but for a send",
    )
  const lied = (expected: string): Failed => failed("length", format, "length", start + 6, length, expected)
  if (inline) {
    if (length > inlineBytesMax) return lied(`at most ${inlineBytesMax}`)
    if (operation === EfaOpcode.Send) return { kind: "sendInline", data: octets.subarray(at, at + length) }
    const bytes = u32le(octets, at)
    if (bytes !== length) return failed("length", format, "remote", at, bytes, `${length}, as the data`)
    const remote = { key: u32le(octets, at + 4), address: u64le(octets, at + 8) }
    return { kind: "writeInline", remote, data: octets.subarray(start + WRITE_DATA_AT, start + WRITE_DATA_AT + length) }
  }
  switch (operation) {
    case EfaOpcode.Send:
      if (length > BUFFERS_MAX) return lied(`at most ${BUFFERS_MAX}`)
      return {
        kind: "send",
        buffers: Array.from({ length }, (_, index) => bufferOf(octets, at + BUFFER_BYTES * index)),
      }
    case EfaOpcode.Register:
      return registrationOf(octets, start, format)
    case EfaOpcode.Invalidate:
      return { kind: "invalidate", localKey: u32le(octets, at) }
    default: {
      if (length !== 1) return lied("1")
      const remote = { bytes: u32le(octets, at), key: u32le(octets, at + 4), address: u64le(octets, at + 8) }
      const kind = operation === EfaOpcode.Read ? "read" : "write"
      return { kind, remote, local: bufferOf(octets, at + BUFFER_BYTES) }
    }
  }
}

const registrationOf = (octets: Uint8Array, start: number, format: string): EfaOperation | Failed => {
  const { pageMode, pages, ...rest } = readFields(REGISTRATION, octets, start + META_BYTES)
  if (pageMode > LIST) return failed("reserved", format, "pageMode", start + MODE_AT, pageMode, "0 or 1")
  return { kind: "register", ...rest, pages: { kind: pageMode === LIST ? "list" : "page", address: pages } }
}

/** Writes what is behind the metadata. The caller has cleared it. */
export const putOperation = (
  operation: EfaWideOperation,
  octets: Uint8Array,
  start: number,
  { format }: Size,
): void => {
  const at = start + META_BYTES
  const place = (bytes: number, key: number, address: bigint): void => {
    put32le(octets, at, uint(bytes, 32, format, "remote.bytes"))
    put32le(octets, at + 4, uint(key, 32, format, "remote.key"))
    put64le(octets, at + 8, uint64(address, format, "remote.address"))
  }
  switch (operation.kind) {
    case "send":
      for (const [index, buffer] of operation.buffers.entries())
        putBuffer(buffer, octets, at + BUFFER_BYTES * index, format)
      return
    case "sendInline":
      octets.set(operation.data, at)
      return
    case "read":
    case "write":
      place(operation.remote.bytes, operation.remote.key, operation.remote.address)
      putBuffer(operation.local, octets, at + BUFFER_BYTES, format)
      return
    case "writeInline":
      place(operation.data.length, operation.remote.key, operation.remote.address)
      octets.set(operation.data, start + WRITE_DATA_AT)
      return
    case "register": {
      const { kind: _, pages, ...rest } = operation
      const fields: FieldsOf<typeof REGISTRATION_TEXT> = {
        ...rest,
        pageMode: pages.kind === "list" ? LIST : 0,
        pages: pages.address,
      }
      writeFields(REGISTRATION, fields, octets, at)
      return
    }
    case "invalidate":
      put32le(octets, at, uint(operation.localKey, 32, format, "localKey"))
  }
}
