import { type FieldsOf, layout, readFields, writeFields } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { EmitError, put16le, put64le, space, u16le, u64le, uint, uint64 } from "../Octets.ts"
import { emitPlain, parsePlain } from "../Plain.ts"
import { type Parse, parsed, shortage } from "../Result.ts"

/*
 * The headers of the public HPCC simulator for ns-3, which it writes in the order of its host's memory. They are its
 * own: no switch or NIC sends them, and another byte order would be as right.
 */

/** One hop of it, 64 bits of C bit-fields. */
export interface Ns3IntHop {
  /** Index into {@link NS3_INT_RATES_BPS}, 3 bits; 5 to 7 are of no speed. */
  readonly rateCode: number
  /** Nanoseconds, 24 bits. */
  readonly time: number
  /** Bytes sent, in units of 128 times the multiplier of the run, 20 bits. */
  readonly txUnits: number
  /** Bytes queued, in units of 80 times the multiplier of the run, 17 bits. */
  readonly queueUnits: number
}

export interface Ns3Int {
  /** Hops that added themselves, 16 bits. From the sixth on they take the places of the first. */
  readonly hopCount: number
  /** Always five; the header does not shrink. */
  readonly hops: ReadonlyArray<Ns3IntHop>
}

export const NS3_INT_BYTES = 42
export const NS3_INT_HOPS = 5
export const NS3_INT_RATES_BPS: ReadonlyArray<number> = [25e9, 50e9, 100e9, 200e9, 400e9]
const HOP_BYTES = 8

const HOP = /* @__PURE__ */ littleLayout("ns3Int", "rateCode:3 time:24 txUnits:20 queueUnits:17")

export const NS3_INT = /* @__PURE__ */ littleLayout("ns3Int", "hop0:64 hop1:64 hop2:64 hop3:64 hop4:64 hopCount:16")

export const parseNs3Int = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ns3Int> => {
  const short = shortage("ns3Int", octets, start, end, NS3_INT_BYTES)
  if (short !== undefined) return short
  const hops: Array<Ns3IntHop> = []
  for (let hop = 0; hop < NS3_INT_HOPS; hop++) hops.push(readFields(HOP, octets, start + HOP_BYTES * hop))
  const at = start + HOP_BYTES * NS3_INT_HOPS
  const hopCount = u16le(octets, at)
  return parsed<Ns3Int>({ hopCount, hops }, start + NS3_INT_BYTES, end)
}

export const emitNs3Int = (value: Ns3Int, octets: Uint8Array, start = 0): number => {
  const { hops } = value
  if (hops.length !== NS3_INT_HOPS) throw new EmitError("ns3Int", "hops", hops.length, `${NS3_INT_HOPS} exactly`)
  space(octets, start, NS3_INT_BYTES, "ns3Int")
  for (const [index, hop] of hops.entries()) writeFields(HOP, hop, octets, start + HOP_BYTES * index)
  const at = start + HOP_BYTES * NS3_INT_HOPS
  put16le(octets, at, uint(value.hopCount, 16, "ns3Int", "hopCount"))
  return start + NS3_INT_BYTES
}

/** What stands in the place of the hops under TIMELY: the time of sending. */
export interface Ns3Timestamp {
  /** Nanoseconds, 64 bits. */
  readonly timeNs: bigint
}

export const NS3_TIMESTAMP = /* @__PURE__ */ littleLayout("ns3Timestamp", "timeNs:64")

export const parseNs3Timestamp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ns3Timestamp> =>
  shortage("ns3Timestamp", octets, start, end, 8) ?? parsed({ timeNs: u64le(octets, start) }, start + 8, end)

export const emitNs3Timestamp = (value: Ns3Timestamp, octets: Uint8Array, start = 0): number => {
  space(octets, start, 8, "ns3Timestamp")
  put64le(octets, start, uint64(value.timeNs, "ns3Timestamp", "timeNs"))
  return start + 8
}

/** In front of any of these, in network byte order: what the simulator has for a transport header. */
export type Ns3SeqTs = FieldsOf<"sequence:32 priorityGroup:16">
export const NS3_SEQ_TS = /* @__PURE__ */ layout("ns3SeqTs", "sequence:32 priorityGroup:16")

export const parseNs3SeqTs = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ns3SeqTs> =>
  parsePlain(NS3_SEQ_TS, octets, start, end)

export const emitNs3SeqTs = (value: Ns3SeqTs, octets: Uint8Array, start = 0): number =>
  emitPlain(NS3_SEQ_TS, value, octets, start)
