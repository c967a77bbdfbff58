import { exactTelemetry, PacketPool } from "@rdmakit/packet"
import type { ControllerFactory } from "@rdmakit/protocol"
import { ImpairedKernel } from "@rdmakit/sim"
import type { Graph, Ports } from "@rdmakit/topology"
import { rocev2Framing } from "@rdmakit/transport-ib"
import { serializationPs } from "@rdmakit/units"
import type { FrameSizes, NetworkContext } from "../Models.ts"
import { slotWidthPs } from "../makeKernel.ts"
import { checkFrames } from "../TransportModel.ts"
import type { WorldParts } from "../WorldParts.ts"

/** Most switches that a packet may pass where links go down, and that telemetry has room for. */
const HOPS_MAX = 64
const PACKETS_AT_FIRST = 1 << 12

/** What the largest packet has beside its payload: IPv6 in place of IPv4, and a RETH and immediate data after the BTH. */
const MORE_HEADER_BYTES = 20 + 16 + 4

/**
 * What switches are told of the packets of devices: their largest frame, and whether they carry telemetry.
 * @param headerBytes of a transport whose headers are longer than RoCE's
 */
export const deviceFrames = (
  mtuBytes: number,
  controller: ControllerFactory | undefined,
  hops: number,
  headerBytes = 0,
): FrameSizes => {
  const needs = controller?.needs ?? []
  const kind = needs.includes("int") ? "int" : needs.includes("pint") ? "pint" : "none"
  const framing = rocev2Framing(kind, hops)
  return {
    mtuBytes,
    framing: { ...framing, dataBytes: Math.max(framing.dataBytes + MORE_HEADER_BYTES, headerBytes) },
    telemetry: kind === "int",
  }
}

/** Switches on the longest path there may be when links have failed. */
export const hopsOf = (graph: Graph, maxHops: number): number => {
  const switches = graph.isSwitch.reduce((sum, each) => sum + each, 0)
  return Math.max(1, Math.min(HOPS_MAX, Math.max(2 * maxHops, switches)))
}

export interface VerbsKernelOptions {
  /** Links of hosts to themselves included. */
  readonly graph: Graph
  readonly ports: Ports
  readonly context: Pick<NetworkContext, "transport" | "telemetryRates" | "seed">
  readonly hops: number
  readonly discipline: WorldParts["discipline"]
  /** Default "fused". */
  readonly kernel: WorldParts["kernel"]
}

export const verbsKernel = ({
  graph,
  ports,
  context,
  hops,
  discipline,
  kernel,
}: VerbsKernelOptions): ImpairedKernel => {
  checkFrames(context.transport)
  const { mtuBytes, framing, telemetry } = context.transport
  const wireBytesMax = mtuBytes + framing.dataBytes + framing.telemetryBytes
  const pool = new PacketPool({
    capacity: PACKETS_AT_FIRST,
    telemetryHops: telemetry ? hops : 0,
    telemetryFormat: exactTelemetry,
    telemetryRates: context.telemetryRates,
  })
  return new ImpairedKernel({
    network: {
      nodes: graph.nodes,
      ports: ports.count,
      isSwitch: graph.isSwitch,
      portNode: ports.node,
      rateBps: ports.rateBps,
      delayPs: ports.delayPs,
      lossRate: ports.lossRate.slice(),
    },
    pool,
    discipline,
    serializationPs,
    wireBytesMax,
    pfcBytes: framing.pfcBytes,
    hopsMax: hops,
    slotPs: slotWidthPs(ports, wireBytesMax),
    seed: context.seed,
    fused: kernel !== "exact",
  })
}
