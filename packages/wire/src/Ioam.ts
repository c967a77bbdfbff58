import { layout } from "./Layout.ts"
import { EmitError, put16, put24, space, u16, u24, u32, u64, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "./Result.ts"

/**
 * In-situ OAM's pre-allocated trace (RFC 9197 §4.4, IOAM type 0) as an option of IPv6's hop-by-hop header (RFC 9486).
 */
export interface Ioam {
  /** Whether routers may change it on the way, which a trace needs: option type 0x31, else 0x11. */
  readonly mutable: boolean
  readonly nameSpace: number
  /** A node had no room left to add itself. */
  readonly overflow: boolean
  /** Looped back (RFC 9322). */
  readonly loopback: boolean
  /** A probe (RFC 9322). */
  readonly active: boolean
  /** Words still free, 0 to 127. */
  readonly remainingWords: number
  /** What nodes add, 24 bits, bit 0 of the standard first; see {@link IoamTrace}. The last bit is 0. */
  readonly traceType: number
  /** Free space and then the nodes, the last one first; whole words, at most 244 octets. */
  readonly nodeData: Uint8Array
}

/** Bits of the trace type (RFC 9197 §4.4.1). */
export const IoamTrace = {
  HopLimitNode: 0x800000,
  Interfaces: 0x400000,
  Seconds: 0x200000,
  Fraction: 0x100000,
  TransitDelay: 0x080000,
  NameSpaceData: 0x040000,
  QueueDepth: 0x020000,
  ChecksumComplement: 0x010000,
  HopLimitNodeWide: 0x008000,
  InterfacesWide: 0x004000,
  NameSpaceDataWide: 0x002000,
  BufferOccupancy: 0x001000,
  Snapshot: 0x000002,
} as const

const HEAD_BYTES = 4
export const IOAM_BYTES = 12
export const IOAM_DATA_BYTES_MAX = 244
const MUTABLE = 0x31
const IMMUTABLE = 0x11
const TRACE = 0

export const IOAM = /* @__PURE__ */ layout(
  "ioam",
  "optionType:8 optionBytes:8 _:8 type:8 nameSpace:16 nodeWords:5 overflow:1 loopback:1 active:1 _:1 remainingWords:7 traceType:24 _:8",
)

/** Words that a node adds by a trace type, without a snapshot: two for the wide ones, one for each other. */
export const ioamNodeWords = (traceType: number): number => {
  let words = 0
  for (let bit = 0; bit < 22; bit++) if ((traceType & (0x800000 >> bit)) !== 0) words += bit >= 8 && bit <= 10 ? 2 : 1
  return words
}

/** Reads the option from its type on. Fails for other option types, other types of IOAM, and lengths that disagree. */
export const parseIoam = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ioam> => {
  const short = shortage("ioam", octets, start, end, HEAD_BYTES)
  if (short !== undefined) return short
  const optionType = octets[start]!
  if (optionType !== MUTABLE && optionType !== IMMUTABLE)
    return failed("unsupported", "ioam", "optionType", start, optionType, "0x31 or 0x11")
  const type = octets[start + 3]!
  if (type !== TRACE) return failed("unsupported", "ioam", "type", start + 3, type, "0, a pre-allocated trace")
  const optionBytes = octets[start + 1]!
  const bytes = 2 + optionBytes
  if (bytes < IOAM_BYTES || bytes % 4 !== 0 || start + bytes > end)
    return failed("length", "ioam", "optionBytes", start + 1, optionBytes, "10 and whole words of data")
  const cut = shortage("ioam", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const traceType = u24(octets, start + 8)
  const flags = octets[start + 6]!
  const remaining = octets[start + 7]!
  const nodeWords = ioamNodeWords(traceType)
  if (flags >> 3 !== nodeWords)
    return failed("value", "ioam", "nodeWords", start + 6, flags >> 3, `${nodeWords}, by the trace type`)
  const dataWords = (bytes - IOAM_BYTES) / 4
  if ((remaining & 0x7f) > dataWords)
    return failed("length", "ioam", "remainingWords", start + 7, remaining & 0x7f, `at most ${dataWords}`)
  const faults: Array<WireError> = []
  const ignore = (offset: number, found: number): void => {
    if (found !== 0) faults.push(wrong("ignored", "ioam", "reserved", offset, found, "0"))
  }
  ignore(start + 2, octets[start + 2]!)
  ignore(start + 7, remaining >> 7)
  ignore(start + 10, traceType & 1)
  ignore(start + 11, octets[start + 11]!)
  const value: Ioam = {
    mutable: optionType === MUTABLE,
    nameSpace: u16(octets, start + 4),
    overflow: (flags & 4) !== 0,
    loopback: (flags & 2) !== 0,
    active: (flags & 1) !== 0,
    remainingWords: remaining & 0x7f,
    traceType: traceType & 0xfffffe,
    nodeData: octets.subarray(start + IOAM_BYTES, start + bytes),
  }
  return parsed(value, start + bytes, end, faults)
}

export const emitIoam = (value: Ioam, octets: Uint8Array, start = 0): number => {
  const { nodeData, traceType } = value
  const { length } = nodeData
  if (length > IOAM_DATA_BYTES_MAX || length % 4 !== 0)
    throw new EmitError("ioam", "nodeData", length, "whole words, at most 244 octets")
  if (traceType % 2 !== 0) throw new EmitError("ioam", "traceType", traceType, "its last bit 0")
  if (value.remainingWords > length / 4)
    throw new EmitError("ioam", "remainingWords", value.remainingWords, `at most ${length / 4}`)
  space(octets, start, IOAM_BYTES + length, "ioam")
  octets[start] = value.mutable ? MUTABLE : IMMUTABLE
  octets[start + 1] = IOAM_BYTES - 2 + length
  octets[start + 2] = 0
  octets[start + 3] = TRACE
  put16(octets, start + 4, uint(value.nameSpace, 16, "ioam", "nameSpace"))
  const flags = (value.overflow ? 4 : 0) | (value.loopback ? 2 : 0) | (value.active ? 1 : 0)
  octets[start + 6] = (ioamNodeWords(uint(traceType, 24, "ioam", "traceType")) << 3) | flags
  octets[start + 7] = uint(value.remainingWords, 7, "ioam", "remainingWords")
  put24(octets, start + 8, traceType)
  octets[start + 11] = 0
  octets.set(nodeData, start + IOAM_BYTES)
  return start + IOAM_BYTES + length
}

/** What one node added. A field is absent when it was not asked for, undefined when all its bits are set: no value. */
export interface IoamNode {
  readonly hopLimit?: number | undefined
  /** 24 bits, or 56 of the wide form. */
  readonly node?: number | undefined
  readonly nodeWide?: bigint | undefined
  readonly ingress?: number | undefined
  readonly egress?: number | undefined
  readonly ingressWide?: number | undefined
  readonly egressWide?: number | undefined
  readonly seconds?: number | undefined
  /** Of a second, in the format of the node's clock. */
  readonly fraction?: number | undefined
  /** Nanoseconds in the node; above 2^31 only: more than that. */
  readonly transitDelay?: number | undefined
  readonly nameSpaceData?: number | undefined
  readonly nameSpaceDataWide?: bigint | undefined
  readonly queueDepth?: number | undefined
  readonly checksumComplement?: number | undefined
  readonly bufferOccupancy?: number | undefined
  /** Data of a schema of its own. */
  readonly snapshot?: { readonly schema: number; readonly data: Uint8Array }
}

const words: ReadonlyArray<readonly [bit: number, name: keyof IoamNode]> = [
  [IoamTrace.Seconds, "seconds"],
  [IoamTrace.Fraction, "fraction"],
  [IoamTrace.TransitDelay, "transitDelay"],
  [IoamTrace.NameSpaceData, "nameSpaceData"],
  [IoamTrace.QueueDepth, "queueDepth"],
  [IoamTrace.ChecksumComplement, "checksumComplement"],
]

/**
 * The nodes of a trace, the last one first. Fails when a node's snapshot, or half a node, reaches past the data; the
 * offset in the error counts from the start of `nodeData`.
 */
export const ioamNodes = (
  value: Ioam,
):
  | { readonly ok: true; readonly nodes: ReadonlyArray<IoamNode> }
  | { readonly ok: false; readonly error: WireError } => {
  const { traceType, nodeData } = value
  const nodeBytes = 4 * ioamNodeWords(traceType)
  const hasSnapshot = (traceType & IoamTrace.Snapshot) !== 0
  const nodes: Array<IoamNode> = []
  if (nodeBytes === 0 && !hasSnapshot) return { ok: true, nodes }
  for (let at = 4 * value.remainingWords; at < nodeData.length; ) {
    let end = at + nodeBytes
    if (hasSnapshot) {
      const cut = shortage("ioam", nodeData, at, nodeData.length, nodeBytes + 4)
      if (cut !== undefined) return cut
      end += 4 + 4 * nodeData[end]!
    }
    const cut = shortage("ioam", nodeData, at, nodeData.length, end - at)
    if (cut !== undefined) return cut
    const node = nodeOf(traceType, nodeData, at)
    const snapshotAt = at + nodeBytes
    const snapshot = hasSnapshot
      ? { snapshot: { schema: u24(nodeData, snapshotAt + 1), data: nodeData.subarray(snapshotAt + 4, end) } }
      : {}
    nodes.push({ ...node, ...snapshot })
    at = end
  }
  return { ok: true, nodes }
}

const known = (value: number, none: number): number | undefined => (value === none ? undefined : value)

const nodeOf = (traceType: number, octets: Uint8Array, start: number): IoamNode => {
  const node: Record<string, number | bigint | undefined> = {}
  let at = start
  const has = (bit: number): boolean => (traceType & bit) !== 0
  if (has(IoamTrace.HopLimitNode)) {
    node.hopLimit = octets[at]!
    node.node = known(u24(octets, at + 1), 0xffffff)
    at += 4
  }
  if (has(IoamTrace.Interfaces)) {
    node.ingress = known(u16(octets, at), 0xffff)
    node.egress = known(u16(octets, at + 2), 0xffff)
    at += 4
  }
  for (const [bit, name] of words) {
    if (!has(bit)) continue
    node[name] = known(u32(octets, at), 0xffff_ffff)
    at += 4
  }
  if (has(IoamTrace.HopLimitNodeWide)) {
    const wide = u64(octets, at)
    node.hopLimit = octets[at]!
    node.nodeWide = BigInt.asUintN(56, wide) === 0xff_ffff_ffff_ffffn ? undefined : BigInt.asUintN(56, wide)
    at += 8
  }
  if (has(IoamTrace.InterfacesWide)) {
    node.ingressWide = known(u32(octets, at), 0xffff_ffff)
    node.egressWide = known(u32(octets, at + 4), 0xffff_ffff)
    at += 8
  }
  if (has(IoamTrace.NameSpaceDataWide)) {
    const wide = u64(octets, at)
    node.nameSpaceDataWide = wide === 0xffff_ffff_ffff_ffffn ? undefined : wide
    at += 8
  }
  if (has(IoamTrace.BufferOccupancy)) node.bufferOccupancy = known(u32(octets, at), 0xffff_ffff)
  return node
}
