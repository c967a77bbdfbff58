import { type FieldsOf, readFields, writeFields } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { EmitError, put64le, u64le, uint64 } from "../Octets.ts"
import { type Failed, failed } from "../Result.ts"

/** What a registered stretch of memory may be used for (erdma_verbs.h, `ERDMA_MR_ACC_…`). */
export interface ErdmaRights {
  readonly remoteAtomic: boolean
  readonly localRead: boolean
  readonly localWrite: boolean
  readonly remoteRead: boolean
  readonly remoteWrite: boolean
}

/**
 * Where the pages of a registration are. `inline`: at most four bus addresses, in the entry's second block. `indirect`:
 * so many entries, 20 bits, of the translation table that the device was told of when the STag was allocated; the
 * entry does not say where it is.
 */
export type ErdmaPages =
  | { readonly kind: "inline"; readonly addresses: ReadonlyArray<bigint> }
  | { readonly kind: "indirect"; readonly count: number }

/** What a send queue entry does with STags (erdma_hw.h, `erdma_reg_mr_sqe`). */
export type ErdmaMemoryOperation =
  | {
      readonly kind: "register"
      readonly stag: number
      /** Of its first octet, as peers name it. */
      readonly address: bigint
      /** 32 bits. */
      readonly bytes: number
      readonly rights: ErdmaRights
      readonly pages: ErdmaPages
    }
  | { readonly kind: "invalidate"; readonly stag: number }

export const ERDMA_INLINE_PAGES_MAX = 4
const ENTRY_BYTES = 32
const PAGE_BYTES = 8
const INLINE = 0
const INDIRECT = 1
const ATTRIBUTES_AT = 24

const TEXT =
  "address:64 bytes:32 stag:32 _:1 remoteAtomic:1 localRead:1 localWrite:1 remoteRead:1 remoteWrite:1 tableType:2 _:4 pageCount:20 _:32"
/** What is behind the header's eight octets. */
const REGISTRATION = /* @__PURE__ */ littleLayout("erdmaSend", TEXT)
const NOTHING: FieldsOf<typeof TEXT> = {
  address: 0n,
  bytes: 0,
  stag: 0,
  remoteAtomic: false,
  localRead: false,
  localWrite: false,
  remoteRead: false,
  remoteWrite: false,
  tableType: INLINE,
  pageCount: 0,
}

/** Octets before the entry is rounded up to blocks. */
export const memoryBytes = (operation: ErdmaMemoryOperation): number =>
  operation.kind === "register" && operation.pages.kind === "inline"
    ? ENTRY_BYTES + PAGE_BYTES * operation.pages.addresses.length
    : ENTRY_BYTES

/** Reads an entry of `bytes` octets that starts at `start`. */
export const memoryOf = (
  octets: Uint8Array,
  start: number,
  bytes: number,
  kind: ErdmaMemoryOperation["kind"],
): ErdmaMemoryOperation | Failed => {
  const { address, stag, tableType, pageCount, ...rest } = readFields(REGISTRATION, octets, start + 8)
  if (kind === "invalidate") {
    if (bytes === ENTRY_BYTES) return { kind, stag }
    return failed("length", "erdmaSend", "blocks", start + 6, bytes / ENTRY_BYTES - 1, "0")
  }
  const at = start + ATTRIBUTES_AT
  if (tableType > INDIRECT) return failed("reserved", "erdmaSend", "tableType", at, tableType, "0 or 1")
  if (tableType === INLINE && pageCount > ERDMA_INLINE_PAGES_MAX)
    return failed("length", "erdmaSend", "pageCount", at + 1, pageCount, `at most ${ERDMA_INLINE_PAGES_MAX}`)
  const blocks = tableType === INLINE && pageCount > 0 ? 2 : 1
  if (bytes !== ENTRY_BYTES * blocks)
    return failed("length", "erdmaSend", "blocks", start + 6, bytes / ENTRY_BYTES - 1, String(blocks - 1))
  const pages: ErdmaPages =
    tableType === INDIRECT
      ? { kind: "indirect", count: pageCount }
      : {
          kind: "inline",
          addresses: Array.from({ length: pageCount }, (_, index) =>
            u64le(octets, start + ENTRY_BYTES + PAGE_BYTES * index),
          ),
        }
  const { bytes: size, ...rights } = rest
  return { kind, stag, address, bytes: size, rights, pages }
}

/** Writes everything but the header's eight octets. The caller has cleared the entry. */
export const putMemory = (operation: ErdmaMemoryOperation, octets: Uint8Array, start: number): void => {
  if (operation.kind === "invalidate") {
    writeFields(REGISTRATION, { ...NOTHING, stag: operation.stag }, octets, start + 8)
    return
  }
  const { stag, address, bytes, rights, pages } = operation
  const addresses = pages.kind === "inline" ? pages.addresses : []
  if (addresses.length > ERDMA_INLINE_PAGES_MAX)
    throw new EmitError("erdmaSend", "pages", addresses.length, `at most ${ERDMA_INLINE_PAGES_MAX}`)
  const fields = {
    ...rights,
    stag,
    address,
    bytes,
    tableType: pages.kind === "inline" ? INLINE : INDIRECT,
    pageCount: pages.kind === "inline" ? addresses.length : pages.count,
  }
  writeFields(REGISTRATION, fields, octets, start + 8)
  for (const [index, page] of addresses.entries())
    put64le(octets, start + ENTRY_BYTES + PAGE_BYTES * index, uint64(page, "erdmaSend", "pages"))
}
