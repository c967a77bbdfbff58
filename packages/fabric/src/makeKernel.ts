import { PacketPool } from "@rdmakit/packet"
import type { Switch, Time } from "@rdmakit/protocol"
import { ExactKernel, type ExactKernelOptions, FaultyKernel, FusedKernel, ImpairedKernel } from "@rdmakit/sim"
import type { Ports, Routes } from "@rdmakit/topology"
import { longestPath } from "./LinkFaults.ts"
import { checkFrames } from "./TransportModel.ts"
import type { WorldParts } from "./WorldParts.ts"

/**
 * Packets there is room for without growing, at least and for each node: what a window of a fast network holds, and as
 * many acknowledgements. What is not used is not touched, and costs no memory; a pool that grows has all code that knows
 * where it lay compiled anew, and less well.
 */
const PACKETS_AT_FIRST = 1 << 16
const PACKETS_PER_NODE = 200

/** Most switches a packet can count. */
const HOPS_MAX = 254
const TELEMETRY_HOPS_MAX = 127

/** Names of the kernels, as users give them. */
export const kernelNames = ["exact", "fused"] as const
export type KernelName = (typeof kernelNames)[number]

/** A kernel was asked for that cannot serve. The message says why, and what to do. */
export class KernelRefused extends Error {
  readonly _tag = "KernelRefused"
}

const TIES =
  "the fused kernel cannot keep ns-3's order of ties, which is the order in which events are scheduled: leave the kernel out, or ask for the exact one"

/**
 * Whether the fused kernel can do what was asked of it.
 * @throws KernelRefused
 */
export const checkKernel = (parts: WorldParts, switches: ReadonlyArray<Switch | undefined>): void => {
  if (parts.kernel !== "fused") return
  const node = switches.findIndex((policy) => policy !== undefined && policy.dequeue !== "lazy")
  if (node < 0) return
  throw new KernelRefused(
    `the fused kernel cannot serve switch ${node}, whose dequeue hook is "${switches[node]!.dequeue}": it calls the hook late, which only "lazy" ones bear; leave the kernel out, and the departures of such a switch are events, or ask for the exact one`,
  )
}

/**
 * The kernel of a network, and the switches on its longest path: those of any time, where links go down.
 * @throws KernelRefused, TransportInvalid
 */
export const makeKernel = (parts: WorldParts, ports: Ports, { maxHops }: Routes) => {
  const { graph, transport, faults } = parts
  const longest = Math.max(1, faults === undefined ? maxHops : longestPath(graph, parts.routes, faults))
  checkFrames(transport)
  const { framing, mtuBytes, telemetry } = transport
  const wireBytesMax = Math.max(
    mtuBytes + framing.dataBytes + framing.telemetryBytes,
    framing.ackBytes,
    framing.cnpBytes,
    framing.pfcBytes,
  )
  const pool = new PacketPool({
    capacity: Math.max(PACKETS_AT_FIRST, PACKETS_PER_NODE * graph.nodes),
    telemetryHops: telemetry ? Math.min(TELEMETRY_HOPS_MAX, longest) : 0,
    telemetryFormat: parts.telemetryFormat,
    telemetryRates: parts.telemetryRates,
  })
  const options: ExactKernelOptions = {
    network: {
      nodes: graph.nodes,
      ports: ports.count,
      isSwitch: graph.isSwitch,
      portNode: ports.node,
      rateBps: ports.rateBps,
      delayPs: ports.delayPs,
      lossRate: Float64Array.from({ length: ports.count }, (_, p) => graph.links[p >> 1]!.lossRate),
    },
    pool,
    discipline: parts.discipline,
    ...(parts.ties === undefined ? {} : { ties: parts.ties }),
    serializationPs: parts.serializationPs,
    wireBytesMax,
    pfcBytes: framing.pfcBytes,
    // A packet whose way changes has made part of the old one.
    hopsMax: faults === undefined ? longest : Math.min(HOPS_MAX, Math.max(1, maxHops) + longest),
    slotPs: slotWidthPs(ports, wireBytesMax),
    seed: parts.seed,
    ...(parts.losses === undefined ? {} : { losses: parts.losses }),
    ...(parts.isLost === undefined ? {} : { isLost: parts.isLost }),
  }
  const isCanonical = parts.ties !== "insertion"
  if (parts.kernel === "fused" && !isCanonical) throw new KernelRefused(TIES)
  const fused = isCanonical && parts.kernel !== "exact"
  const Faulty = faults?.asSimulated === true ? FaultyKernel : ImpairedKernel
  const faulty = faults === undefined ? undefined : new Faulty({ ...options, fused })
  const turns = parts.local === true && parts.admission === undefined && parts.watchdog === undefined
  return {
    kernel: faulty ?? (fused ? new FusedKernel({ ...options, turns }) : new ExactKernel(options)),
    faulty,
    longest,
  }
}

/** A wheel that reaches past the longest link's delay and serialization, with slots no narrower than a nanosecond. */
export function slotWidthPs(ports: Ports, wireBytesMax: number): Time {
  let reach = 0
  for (let port = 0; port < ports.count; port++) {
    reach = Math.max(reach, ports.delayPs[port]! + (wireBytesMax * 8e12) / ports.rateBps[port]!)
  }
  return Math.max(1024, reach / 4096)
}
