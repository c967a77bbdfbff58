import { type FieldsOf, layout, readFields, reservedFaults } from "./Layout.ts"
import { EmitError } from "./Octets.ts"
import { emitPlain, parsePlain } from "./Plain.ts"
import { failed, type Parse, parsed, shortage } from "./Result.ts"

/** The header of the Inband Flow Analyzer, version 2, between IP and the transport (draft-kumar-ippm-ifa §3.3.1). */
export interface Ifa {
  /** Global name space, 4 bits; 15 says that each hop has a local one. */
  readonly nameSpace: number
  /** IP protocol of what follows. */
  readonly protocol: number
  /** 8 bits; see {@link IfaFlag}. */
  readonly flags: number
  /** Words of four octets that the metadata may grow to. */
  readonly wordsMax: number
}

export const IfaFlag = {
  Checksum: 0x01,
  TurnAround: 0x02,
  Inband: 0x04,
  TailStamp: 0x08,
  MetadataFragment: 0x10,
} as const
export const IFA_BYTES = 4
const VERSION = 2

export const IFA = /* @__PURE__ */ layout("ifa", "version:4 nameSpace:4 protocol:8 flags:8 wordsMax:8")

/** Fails for a version other than 2. */
export const parseIfa = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ifa> => {
  const short = shortage("ifa", octets, start, end, IFA_BYTES)
  if (short !== undefined) return short
  const { version, ...value } = readFields(IFA, octets, start)
  if (version !== VERSION) return failed("unsupported", "ifa", "version", start, version, "2")
  return parsed<Ifa>(value, start + IFA_BYTES, end)
}

export const emitIfa = (value: Ifa, octets: Uint8Array, start = 0): number =>
  emitPlain(IFA, { version: VERSION, ...value }, octets, start)

/** The checksum that stands first behind the transport header when its flag is set. */
export type IfaChecksum = FieldsOf<"checksum:16 _:16">
export const IFA_CHECKSUM = /* @__PURE__ */ layout("ifaChecksum", "checksum:16 _:16")
export const parseIfaChecksum = (octets: Uint8Array, start = 0, end = octets.length): Parse<IfaChecksum> =>
  parsePlain(IFA_CHECKSUM, octets, start, end)
export const emitIfaChecksum = (value: IfaChecksum, octets: Uint8Array, start = 0): number =>
  emitPlain(IFA_CHECKSUM, value, octets, start)

/** Which part of a packet's metadata this is, when its flag is set. */
export type IfaFragment = FieldsOf<"packet:26 fragment:5 last:1">
export const IFA_FRAGMENT = /* @__PURE__ */ layout("ifaFragment", "packet:26 fragment:5 last:1")
export const parseIfaFragment = (octets: Uint8Array, start = 0, end = octets.length): Parse<IfaFragment> =>
  parsePlain(IFA_FRAGMENT, octets, start, end)
export const emitIfaFragment = (value: IfaFragment, octets: Uint8Array, start = 0): number =>
  emitPlain(IFA_FRAGMENT, value, octets, start)

/** The header of the metadata, behind the transport header. */
export interface IfaMetadata {
  readonly request: number
  readonly action: number
  /** Hops that may still add themselves. */
  readonly hopLimit: number
  /** Octets of metadata that follow, whole words, at most 1,020; the last hop first. */
  readonly payloadBytes: number
}

export const IFA_METADATA_BYTES = 4
export const IFA_METADATA = /* @__PURE__ */ layout("ifaMetadata", "request:8 action:8 hopLimit:8 words:8")

/** Fails when the metadata reaches past `end`. */
export const parseIfaMetadata = (octets: Uint8Array, start = 0, end = octets.length): Parse<IfaMetadata> => {
  const short = shortage("ifaMetadata", octets, start, end, IFA_METADATA_BYTES)
  if (short !== undefined) return short
  const { words, ...value } = readFields(IFA_METADATA, octets, start)
  const at = start + IFA_METADATA_BYTES
  if (at + 4 * words > end)
    return failed("length", "ifaMetadata", "words", start + 3, words, `at most ${(end - at) >> 2}`)
  return parsed({ ...value, payloadBytes: 4 * words }, at, at + 4 * words)
}

export const emitIfaMetadata = (value: IfaMetadata, octets: Uint8Array, start = 0): number => {
  const { payloadBytes, ...rest } = value
  return emitPlain(IFA_METADATA, { ...rest, words: payloadBytes / 4 }, octets, start)
}

/**
 * What a hop adds: HPCC++'s metadata for IFA (draft-miao-tsv-hpcc-info §3.1). Where that draft has reserved bits,
 * draft-kumar-ippm-ifa has the time to live, congestion and queue of a packet, in the same places.
 */
export interface IfaHop {
  /** Local name space, 4 bits: how to read what follows. */
  readonly nameSpace: number
  /** 20 bits. */
  readonly device: number
  readonly timeToLive: number
  /** Index into {@link IFA_SPEEDS_BPS}. */
  readonly speedCode: number
  /** 2 bits: the packet's ECN. */
  readonly congestion: number
  /** 6 bits. */
  readonly queue: number
  /** Seconds of arrival, the lower 20 bits. */
  readonly rxSeconds: number
  readonly egressPort: number
  readonly ingressPort: number
  readonly rxNanoseconds: number
  /** Nanoseconds in the switch. */
  readonly residenceNs: number
  readonly txBytes: number
  /** 16 bits, in cells of the switch. */
  readonly queueLength: number
}

export const IFA_HOP_BYTES = 32
export const IFA_SPEEDS_BPS: ReadonlyArray<number> = [10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9]

export const IFA_HOP = /* @__PURE__ */ layout(
  "ifaHop",
  "nameSpace:4 device:20 timeToLive:8 speedCode:4 congestion:2 queue:6 rxSeconds:20 egressPort:16 ingressPort:16 rxNanoseconds:32 residenceNs:32 txBytes:32 _:16 queueLength:16 _:32",
)

/** Fails for a speed code of 7 or more. */
export const parseIfaHop = (octets: Uint8Array, start = 0, end = octets.length): Parse<IfaHop> => {
  const short = shortage("ifaHop", octets, start, end, IFA_HOP_BYTES)
  if (short !== undefined) return short
  const value = readFields(IFA_HOP, octets, start)
  if (value.speedCode >= IFA_SPEEDS_BPS.length)
    return failed("reserved", "ifaHop", "speedCode", start + 4, value.speedCode, "0 to 6")
  return parsed<IfaHop>(value, start + IFA_HOP_BYTES, end, reservedFaults(IFA_HOP, octets, start))
}

export const emitIfaHop = (value: IfaHop, octets: Uint8Array, start = 0): number => {
  if (value.speedCode >= IFA_SPEEDS_BPS.length) throw new EmitError("ifaHop", "speedCode", value.speedCode, "0 to 6")
  return emitPlain(IFA_HOP, value, octets, start)
}
