import { layout } from "./Layout.ts"
import { EmitError, put16, put32, put64, space, u16, u32, u64, uint, uint64 } from "./Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "./Result.ts"

/** What the sink puts back (P4 INT v2.1 §5.7.2): the last 16 bits of the shim, by its NPT. */
export type IntMdNext =
  | { readonly kind: "udpPort"; readonly port: number }
  | { readonly kind: "ipProtocol"; readonly protocol: number }
  | { readonly kind: "dscp"; readonly dscp: number }

/**
 * In-band telemetry that packets carry with them, behind UDP or TCP (P4 INT v2.1, INT-MD): shim, metadata header and
 * what the hops pushed. Over RoCEv2 it has INT's own destination port, and the 4791 stands in the shim.
 */
export interface IntMd {
  readonly next: IntMdNext
  /** The sink discards the packet, a copy or a probe. */
  readonly discard: boolean
  readonly hopCountExceeded: boolean
  readonly mtuExceeded: boolean
  /** Words of four octets that each hop pushes, 0 to 31. */
  readonly hopWords: number
  /** Hops that may still push, 0 to 255. */
  readonly remainingHops: number
  /** What they push: bit 15, the first, to bit 0; see {@link IntMdInstruction}. */
  readonly instructions: number
  readonly domain: number
  readonly domainInstructions: number
  readonly domainFlags: number
  /** The last hop first. Whole words, at most 252 of them. {@link intMdHops} takes it apart. */
  readonly stack: Uint8Array
}

/** Bits of the instruction bitmap, the first as the specification counts them (§5.8). */
export const IntMdInstruction = {
  NodeId: 0x8000,
  Ports: 0x4000,
  HopLatency: 0x2000,
  Queue: 0x1000,
  IngressTime: 0x0800,
  EgressTime: 0x0400,
  Level2Ports: 0x0200,
  TxUtilization: 0x0100,
  Buffer: 0x0080,
  ChecksumComplement: 0x0001,
} as const

const SHIM_BYTES = 4
export const INT_MD_BYTES = 16
const HEADER_WORDS = 3
const TYPE_MD = 1
const VERSION = 2

export const INT_MD = /* @__PURE__ */ layout(
  "intMd",
  "type:4 nextType:2 _:2 words:8 nextField:16 version:4 discard:1 hopCountExceeded:1 mtuExceeded:1 _:12 hopWords:5 remainingHops:8 instructions:16 domain:16 domainInstructions:16 domainFlags:16",
)

/** Fails for types other than 1 (INT-MD), versions other than 2, NPT 3, and a length that ends in the header. */
export const parseIntMd = (octets: Uint8Array, start = 0, end = octets.length): Parse<IntMd> => {
  const short = shortage("intMd", octets, start, end, SHIM_BYTES)
  if (short !== undefined) return short
  const first = octets[start]!
  if (first >> 4 !== TYPE_MD) return failed("unsupported", "intMd", "type", start, first >> 4, "1")
  const nextType = (first >> 2) & 3
  if (nextType === 3) return failed("reserved", "intMd", "nextType", start, nextType, "0 to 2")
  const words = octets[start + 1]!
  const bytes = SHIM_BYTES + 4 * words
  if (words < HEADER_WORDS || start + bytes > end)
    return failed("length", "intMd", "words", start + 1, words, `3 to ${(end - start - SHIM_BYTES) >> 2}`)
  const cut = shortage("intMd", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const at = start + SHIM_BYTES
  const word = u32(octets, at)
  if (word >>> 28 !== VERSION) return failed("reserved", "intMd", "version", at, word >>> 28, "2")
  const faults: Array<WireError> = []
  const ignore = (field: string, offset: number, found: number): void => {
    if (found !== 0) faults.push(wrong("ignored", "intMd", field, offset, found, "0"))
  }
  const field = u16(octets, start + 2)
  ignore("reserved", start, first & 3)
  ignore("reserved", start + 2, nextType === 1 ? 0 : nextType === 2 ? field & 0xff00 : field & 0xffc0)
  ignore("reserved", at, (word >> 13) & 0xfff)
  const next: IntMdNext =
    nextType === 1
      ? { kind: "udpPort", port: field }
      : nextType === 2
        ? { kind: "ipProtocol", protocol: field & 0xff }
        : { kind: "dscp", dscp: field & 0x3f }
  const value: IntMd = {
    next,
    discard: (word & 0x0800_0000) !== 0,
    hopCountExceeded: (word & 0x0400_0000) !== 0,
    mtuExceeded: (word & 0x0200_0000) !== 0,
    hopWords: (word >> 8) & 0x1f,
    remainingHops: word & 0xff,
    instructions: u16(octets, at + 4),
    domain: u16(octets, at + 6),
    domainInstructions: u16(octets, at + 8),
    domainFlags: u16(octets, at + 10),
    stack: octets.subarray(start + INT_MD_BYTES, start + bytes),
  }
  return parsed(value, start + bytes, end, faults)
}

/** Writes shim, header and stack. */
export const emitIntMd = (value: IntMd, octets: Uint8Array, start = 0): number => {
  const { next, stack } = value
  const words = HEADER_WORDS + stack.length / 4
  if (stack.length % 4 !== 0) throw new EmitError("intMd", "stack", stack.length, "whole words of four octets")
  space(octets, start, INT_MD_BYTES + stack.length, "intMd")
  const nextType = next.kind === "udpPort" ? 1 : next.kind === "ipProtocol" ? 2 : 0
  octets[start] = (TYPE_MD << 4) | (nextType << 2)
  octets[start + 1] = uint(words, 8, "intMd", "words")
  if (next.kind === "udpPort") put16(octets, start + 2, uint(next.port, 16, "intMd", "port"))
  else if (next.kind === "ipProtocol") put16(octets, start + 2, uint(next.protocol, 8, "intMd", "protocol"))
  else put16(octets, start + 2, uint(next.dscp, 6, "intMd", "dscp"))
  const at = start + SHIM_BYTES
  const { discard, hopCountExceeded, mtuExceeded } = value
  octets[at] = (VERSION << 4) | (discard ? 8 : 0) | (hopCountExceeded ? 4 : 0) | (mtuExceeded ? 2 : 0)
  octets[at + 1] = 0
  octets[at + 2] = uint(value.hopWords, 5, "intMd", "hopWords")
  octets[at + 3] = uint(value.remainingHops, 8, "intMd", "remainingHops")
  put16(octets, at + 4, uint(value.instructions, 16, "intMd", "instructions"))
  put16(octets, at + 6, uint(value.domain, 16, "intMd", "domain"))
  put16(octets, at + 8, uint(value.domainInstructions, 16, "intMd", "domainInstructions"))
  put16(octets, at + 10, uint(value.domainFlags, 16, "intMd", "domainFlags"))
  octets.set(stack, start + INT_MD_BYTES)
  return start + INT_MD_BYTES + stack.length
}

/**
 * What one hop pushed. A field is absent when it was not asked for, and undefined when the hop said that it has no
 * such value, with all ones.
 */
export interface IntMdHop {
  readonly nodeId?: number | undefined
  /** Ingress port in the upper 16 bits, egress port in the lower. */
  readonly ports?: number | undefined
  readonly hopLatency?: number | undefined
  /** Queue in the upper 8 bits, occupancy in the lower 24. */
  readonly queue?: number | undefined
  readonly ingressTime?: bigint | undefined
  readonly egressTime?: bigint | undefined
  /** Logical ingress port in the upper 32 bits, egress port in the lower. */
  readonly level2Ports?: bigint | undefined
  readonly txUtilization?: number | undefined
  /** Buffer in the upper 8 bits, occupancy in the lower 24. */
  readonly buffer?: number | undefined
  readonly checksumComplement?: number | undefined
  /** Reserved instructions, and what belongs to the domain. */
  readonly rest: Uint8Array
}

const parts: ReadonlyArray<readonly [bit: number, name: Exclude<keyof IntMdHop, "rest">, bytes: 4 | 8]> = [
  [IntMdInstruction.NodeId, "nodeId", 4],
  [IntMdInstruction.Ports, "ports", 4],
  [IntMdInstruction.HopLatency, "hopLatency", 4],
  [IntMdInstruction.Queue, "queue", 4],
  [IntMdInstruction.IngressTime, "ingressTime", 8],
  [IntMdInstruction.EgressTime, "egressTime", 8],
  [IntMdInstruction.Level2Ports, "level2Ports", 8],
  [IntMdInstruction.TxUtilization, "txUtilization", 4],
  [IntMdInstruction.Buffer, "buffer", 4],
]
const NONE_32 = 0xffff_ffff
const NONE_64 = 0xffff_ffff_ffff_ffffn

/** Octets that the known instructions take, the complement at the end of a hop apart. */
const askedBytes = (instructions: number): number =>
  parts.reduce((sum, [bit, , bytes]) => sum + ((instructions & bit) === 0 ? 0 : bytes), 0)

const endBytes = (instructions: number): number => ((instructions & IntMdInstruction.ChecksumComplement) === 0 ? 0 : 4)

/**
 * The hops of a stack, the last one first. What is not a whole hop at its end was added by the source alone. Fails when
 * the instructions ask for more than `hopWords` has; the offset in the error counts from the start of the shim.
 */
export const intMdHops = (
  value: IntMd,
):
  | { readonly ok: true; readonly hops: ReadonlyArray<IntMdHop>; readonly source: Uint8Array }
  | { readonly ok: false; readonly error: WireError } => {
  const { instructions, stack } = value
  const hopBytes = 4 * value.hopWords
  const asked = askedBytes(instructions) + endBytes(instructions)
  if (asked > hopBytes || hopBytes === 0) {
    if (hopBytes === 0 && asked === 0) return { ok: true, hops: [], source: stack }
    return failed("value", "intMd", "hopWords", SHIM_BYTES + 2, value.hopWords, `at least ${asked / 4}`)
  }
  const hops: Array<IntMdHop> = []
  let at = 0
  for (; at + hopBytes <= stack.length; at += hopBytes)
    hops.push(hopOf(instructions, stack.subarray(at, at + hopBytes)))
  return { ok: true, hops, source: stack.subarray(at) }
}

const hopOf = (instructions: number, octets: Uint8Array): IntMdHop => {
  const hop: Record<string, number | bigint | undefined> = {}
  let at = 0
  for (const [bit, name, bytes] of parts) {
    if ((instructions & bit) === 0) continue
    const found = bytes === 4 ? u32(octets, at) : u64(octets, at)
    hop[name] = found === NONE_32 || found === NONE_64 ? undefined : found
    at += bytes
  }
  const end = octets.length - endBytes(instructions)
  if (end < octets.length) {
    const found = u32(octets, end)
    hop.checksumComplement = found === NONE_32 ? undefined : found
  }
  return { ...hop, rest: octets.subarray(at, end) }
}

/** The octets of one hop, in the order of the bitmap. A value that is undefined is written as all ones. */
export const emitIntMdHop = (instructions: number, hop: IntMdHop, octets: Uint8Array, start = 0): number => {
  const end = start + askedBytes(instructions) + hop.rest.length + endBytes(instructions)
  space(octets, start, end - start, "intMd")
  let at = start
  for (const [bit, name, bytes] of parts) {
    if ((instructions & bit) === 0) continue
    if (bytes === 4) put32(octets, at, uint(Number(hop[name] ?? NONE_32), 32, "intMd", name))
    else put64(octets, at, uint64(BigInt(hop[name] ?? NONE_64), "intMd", name))
    at += bytes
  }
  octets.set(hop.rest, at)
  if (endBytes(instructions) > 0)
    put32(octets, end - 4, uint(hop.checksumComplement ?? NONE_32, 32, "intMd", "checksumComplement"))
  return end
}
