import { Flag, type Packet, type PacketPool } from "@rdmakit/packet"
import {
  emitHpccInt,
  emitNs3Int,
  HPCC_QUEUE_UNIT_BYTES,
  HPCC_TX_UNIT_BYTES,
  NS3_INT_BYTES,
  NS3_INT_HOPS,
  NS3_INT_RATES_BPS,
  type Ns3IntHop,
  parseHpccInt,
  parseNs3Int,
} from "@rdmakit/wire/hpcc"
import { emitPint, parsePint } from "@rdmakit/wire/pint"
import { CodecError } from "./CodecError.ts"

/**
 * How telemetry is written: left out; as in HPCC's paper (Fig. 7); as the HPCC simulator writes its `IntHeader`, which is
 * in the order of its host's memory.
 */
export const intLayouts = ["none", "hpcc", "ns3"] as const
export type IntLayout = (typeof intLayouts)[number]

/** Most switches whose telemetry fits. */
const intHopsMax: Readonly<Record<Exclude<IntLayout, "none">, number>> = { hpcc: 15, ns3: NS3_INT_HOPS }

/**
 * UDP ports of packets with telemetry between UDP and BTH: nothing registers one, and on RoCEv2's own 4791 every reader
 * would take telemetry for a BTH.
 */
export const intPorts = { hpcc: 47_911, ns3: 47_912, pint: 47_913 } as const
export type IntKind = keyof typeof intPorts

/** What telemetry a packet with this port has; undefined for another port. */
export const intKindOf = (port: number): IntKind | undefined =>
  (Object.keys(intPorts) as ReadonlyArray<IntKind>).find((kind) => intPorts[kind] === port)

/** The simulator's header has two octets for a digest of any size. */
const PINT_BYTES = 2
const HOP_NUMBERS = 4
const TIME_END = 1 << 24
const TX_END = 1 << 20
const HPCC_QUEUE_MAX = 0xffff
const NS3_QUEUE_MAX = 0x1_ffff
const SPEED_CODES = 16
const NS_PS = 1000

const hops = new Float64Array(HOP_NUMBERS * 127)

/** Octets of telemetry that a packet has in this layout; 0 when it has none. */
export const intBytes = (packet: Packet, layout: IntLayout): number => {
  if (layout === "none") return 0
  if (packet.pint >= 0) return PINT_BYTES
  if (packet.telemetry < 0) return 0
  return layout === "ns3" ? NS3_INT_BYTES : 2 + 8 * packet.telemetryHops
}

/** Bytes for which the simulator's header counts one, where the run has a multiplier of its own. */
const ns3Units = ({ pool }: Packet): readonly [tx: number, queue: number] =>
  pool.telemetryFormat.name === "int64" ? [pool.telemetryFormat.bytesUnit, pool.telemetryFormat.queueUnit] : [128, 80]

/** Why telemetry of a pool's packets does not fit a layout, in words; undefined: it does, or there is none. */
export const intRefusal = (pool: PacketPool, layout: IntLayout): string | undefined => {
  if (layout === "none" || pool.telemetryHops === 0) return undefined
  if (pool.telemetryHops > intHopsMax[layout]) {
    return `telemetry of ${pool.telemetryHops} switches: the layout "${layout}" has room for ${intHopsMax[layout]}`
  }
  const rates = Array.from(pool.telemetryRates)
  if (layout === "hpcc") {
    if (rates.length <= SPEED_CODES) return undefined
    return `${rates.length} rates of links: the layout "hpcc" can tell ${SPEED_CODES}`
  }
  const unknown = rates.find((rate) => !NS3_INT_RATES_BPS.includes(rate))
  if (unknown === undefined) return undefined
  return `a link of ${unknown / 1e9} Gb/s: the layout "ns3" can tell 25, 50, 100, 200 and 400`
}

const rateIndex = (rates: ArrayLike<number>, bps: number, codes: number): number => {
  for (let code = 0; code < Math.min(rates.length, codes); code++) if (rates[code] === bps) return code
  const known = Array.from(rates).slice(0, codes)
  throw new CodecError("telemetry rate", `${bps} bit/s`, `one of ${known.join(", ")}`)
}

/** Writes the telemetry of a packet that has some, and returns the first octet after it. */
export const emitInt = (packet: Packet, layout: Exclude<IntLayout, "none">, octets: Uint8Array, at: number): number => {
  if (packet.pint >= 0) return emitPint({ bytes: PINT_BYTES, digest: packet.pint }, octets, at)
  const count = packet.readTelemetry(hops)
  if (count > intHopsMax[layout]) throw new CodecError("telemetry hops", count, `${intHopsMax[layout]} at most`)
  return layout === "hpcc" ? emitPaper(packet, count, octets, at) : emitSimulator(packet, count, octets, at)
}

const emitPaper = (packet: Packet, count: number, octets: Uint8Array, at: number): number => {
  const stamped = Array.from({ length: count }, (_, hop) => ({
    speedCode: rateIndex(packet.pool.telemetryRates, hops[HOP_NUMBERS * hop + 3]!, SPEED_CODES),
    ...countsOf(hop, HPCC_TX_UNIT_BYTES, HPCC_QUEUE_UNIT_BYTES, HPCC_QUEUE_MAX),
  }))
  return emitHpccInt({ pathId: packet.pathId, hops: stamped }, octets, at)
}

const NO_HOP: Ns3IntHop = { rateCode: 0, time: 0, txUnits: 0, queueUnits: 0 }

const emitSimulator = (packet: Packet, count: number, octets: Uint8Array, at: number): number => {
  const [txUnit, queueUnit] = ns3Units(packet)
  const stamped = Array.from({ length: NS3_INT_HOPS }, (_, hop) =>
    hop >= count
      ? NO_HOP
      : {
          rateCode: rateIndex(NS3_INT_RATES_BPS, hops[HOP_NUMBERS * hop + 3]!, SPEED_CODES),
          ...countsOf(hop, txUnit, queueUnit, NS3_QUEUE_MAX),
        },
  )
  return emitNs3Int({ hopCount: count, hops: stamped }, octets, at)
}

/** Time and bytes wrap, as their fields do; a queue that is too long is the longest that can be told. */
const countsOf = (hop: number, txUnit: number, queueUnit: number, queueMax: number) => ({
  time: Math.floor(hops[HOP_NUMBERS * hop]! / NS_PS) % TIME_END,
  txUnits: Math.floor(hops[HOP_NUMBERS * hop + 1]! / txUnit) % TX_END,
  queueUnits: Math.min(queueMax, Math.floor(hops[HOP_NUMBERS * hop + 2]! / queueUnit)),
})

/** Octets that telemetry of this kind takes at `at`: the paper's says how many hops it has. */
export const intBytesAt = (kind: IntKind, octets: Uint8Array, at: number): number => {
  if (kind === "pint") return PINT_BYTES
  return kind === "ns3" ? NS3_INT_BYTES : 2 + 8 * ((octets[at] ?? 0) >> 4)
}

/**
 * Reads telemetry of `bytes` octets into a packet without any. The pool must have room for it, and rates that it names;
 * what is wrong is returned.
 */
export const readInt = (
  kind: IntKind,
  octets: Uint8Array,
  at: number,
  bytes: number,
  packet: Packet,
): CodecError | undefined => {
  if (kind === "pint") {
    const digest = parsePint(octets, at, at + bytes)
    if (!digest.ok) return new CodecError("pint.digest", digest.error.what, "two octets")
    packet.pint = digest.value.digest
    return undefined
  }
  const { pool } = packet
  const read = kind === "hpcc" ? readPaper(octets, at, bytes) : readSimulator(octets, at, bytes, ns3Units(packet))
  if (read instanceof CodecError) return read
  if (read.hops.length > pool.telemetryHops) {
    return new CodecError("telemetry hops", read.hops.length, `${pool.telemetryHops} at most, as the pool has room for`)
  }
  if (pool.telemetryHops === 0) return undefined
  packet.addTelemetry()
  for (const [index, hop] of read.hops.entries()) {
    const rates = pool.telemetryRates
    const code =
      kind === "hpcc" ? hop.rateCode : Array.from(rates).indexOf(NS3_INT_RATES_BPS[hop.rateCode] ?? Number.NaN)
    if (code < 0 || code >= rates.length) return new CodecError("telemetry rate", hop.rateCode, "a rate of the pool")
    packet.stampHop(hop.timePs, hop.sentBytes, hop.queueBytes, code, index === 0 ? read.pathId : 0)
  }
  return undefined
}

interface Stamped {
  readonly pathId: number
  readonly hops: ReadonlyArray<{
    readonly rateCode: number
    readonly timePs: number
    readonly sentBytes: number
    readonly queueBytes: number
  }>
}

const readPaper = (octets: Uint8Array, at: number, bytes: number): Stamped | CodecError => {
  const parsed = parseHpccInt(octets, at, at + bytes)
  if (!parsed.ok) return new CodecError(`hpccInt.${parsed.error.field}`, parsed.error.what, "HPCC's telemetry")
  return {
    pathId: parsed.value.pathId,
    hops: parsed.value.hops.map(({ speedCode, time, txUnits, queueUnits }) => ({
      rateCode: speedCode,
      timePs: time * NS_PS,
      sentBytes: txUnits * HPCC_TX_UNIT_BYTES,
      queueBytes: queueUnits * HPCC_QUEUE_UNIT_BYTES,
    })),
  }
}

const readSimulator = (
  octets: Uint8Array,
  at: number,
  bytes: number,
  [txUnit, queueUnit]: readonly [number, number],
): Stamped | CodecError => {
  const parsed = parseNs3Int(octets, at, at + bytes)
  if (!parsed.ok) return new CodecError(`ns3Int.${parsed.error.field}`, parsed.error.what, "the simulator's telemetry")
  const { hopCount, hops: all } = parsed.value
  if (hopCount > NS3_INT_HOPS) return new CodecError("ns3Int.hopCount", hopCount, `${NS3_INT_HOPS} at most`)
  return {
    pathId: 0,
    hops: all.slice(0, hopCount).map(({ rateCode, time, txUnits, queueUnits }) => ({
      rateCode,
      timePs: time * NS_PS,
      sentBytes: txUnits * txUnit,
      queueBytes: queueUnits * queueUnit,
    })),
  }
}

/** Requests whose telemetry switches fill in say so. */
export const markTelemetry = (packet: Packet): void => {
  if (packet.telemetry !== -1) packet.set(Flag.Telemetry)
}
