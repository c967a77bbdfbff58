import { layout, readFields, writeFields } from "../Layout.ts"
import { EmitError, put16, space, u16, uint } from "../Octets.ts"
import { type Parse, parsed, shortage } from "../Result.ts"

/** What a switch adds: the state of its egress port when the packet leaves (HPCC, SIGCOMM 2019, Fig. 7). */
export interface HpccHop {
  /** Which of the link speeds agreed upon, 4 bits. */
  readonly speedCode: number
  /** Time, 24 bits; the paper's testbed counts nanoseconds. */
  readonly time: number
  /** Bytes sent by the port in units of {@link HPCC_TX_UNIT_BYTES}, 20 bits. */
  readonly txUnits: number
  /** Its queue in units of {@link HPCC_QUEUE_UNIT_BYTES}, 16 bits. */
  readonly queueUnits: number
}

/** The telemetry of HPCC's paper, between UDP and BTH. */
export interface HpccInt {
  /** The exclusive or of the switches' 12-bit IDs: it changes when the path does. */
  readonly pathId: number
  /** At most 15, the first switch first. */
  readonly hops: ReadonlyArray<HpccHop>
}

export const HPCC_TX_UNIT_BYTES = 128
export const HPCC_QUEUE_UNIT_BYTES = 80
const HEAD_BYTES = 2
const HOP_BYTES = 8
const HOPS_MAX = 15

export const HPCC_INT = /* @__PURE__ */ layout("hpccInt", "hopCount:4 pathId:12")
export const HPCC_HOP = /* @__PURE__ */ layout("hpccInt", "speedCode:4 time:24 txUnits:20 queueUnits:16")

export const hpccIntBytes = ({ hops }: HpccInt): number => HEAD_BYTES + HOP_BYTES * hops.length

export const parseHpccInt = (octets: Uint8Array, start = 0, end = octets.length): Parse<HpccInt> => {
  const short = shortage("hpccInt", octets, start, end, HEAD_BYTES)
  if (short !== undefined) return short
  const first = u16(octets, start)
  const bytes = HEAD_BYTES + HOP_BYTES * (first >> 12)
  const cut = shortage("hpccInt", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const hops: Array<HpccHop> = []
  for (let at = start + HEAD_BYTES; at < start + bytes; at += HOP_BYTES) hops.push(readFields(HPCC_HOP, octets, at))
  return parsed<HpccInt>({ pathId: first & 0xfff, hops }, start + bytes, end)
}

export const emitHpccInt = (value: HpccInt, octets: Uint8Array, start = 0): number => {
  const { pathId, hops } = value
  if (hops.length > HOPS_MAX) throw new EmitError("hpccInt", "hops", hops.length, `at most ${HOPS_MAX}`)
  const bytes = hpccIntBytes(value)
  space(octets, start, bytes, "hpccInt")
  put16(octets, start, (hops.length << 12) | uint(pathId, 12, "hpccInt", "pathId"))
  for (const [index, hop] of hops.entries()) writeFields(HPCC_HOP, hop, octets, start + HEAD_BYTES + HOP_BYTES * index)
  return start + bytes
}
