/**
 * Rules that the files of a config must keep together, beyond the form of each: a check gives the first fault it
 * finds, and says in its hint how many more there are.
 */
import { type ConfigFile, checkLinkRates, type Ns3Flows, Ns3FormatError, type Ns3Topology } from "@rdmakit/ns3"
import type { Graph, Ports, Routes } from "@rdmakit/topology"
import { mulDivFloor } from "@rdmakit/units"
import { keyFault } from "./ConfigFault.ts"

/** Bytes that each ingress queue may hold outside the shared buffer (SwitchMmu::reserve). */
const RESERVE_BYTES = 4096
const HEADROOM_PRODUCTS = 3
const MIB = 1024 * 1024
/** The largest BUFFER_SIZE: the simulator counts bytes in 32 bits. */
const BUFFER_MIB_MAX = 4095

/** The headroom of a switch port as the HPCC simulator sets it: three bandwidth-delay products of its link. */
export const ns3HeadroomBytes = (rateBps: number, delayPs: number): number => {
  const delayNs = Math.floor(delayPs / 1000)
  return HEADROOM_PRODUCTS * mulDivFloor(rateBps, delayNs, 8e9)
}

/** Every rate of a link is one that the config has ECN thresholds for, and that HPCC's telemetry can name. */
export const checkRates = (
  configFile: ConfigFile,
  topology: Ns3Topology,
  topologyFile: string,
): Ns3FormatError | undefined => {
  try {
    checkLinkRates(configFile, topology, topologyFile)
    return undefined
  } catch (error) {
    if (error instanceof Ns3FormatError) return error
    throw error
  }
}

/** The buffer of every switch holds what it keeps aside. */
export const checkBuffers = (configFile: ConfigFile, graph: Graph, ports: Ports): Ns3FormatError | undefined => {
  const { bufferBytes } = configFile.config
  let worst = { node: -1, headroomBytes: 0, reserveBytes: 0 }
  for (let node = 0; node < graph.nodes; node++) {
    if (graph.isSwitch[node] === 0) continue
    let headroomBytes = 0
    let reserveBytes = 0
    for (const port of ports.portsOf(node)) {
      headroomBytes += ns3HeadroomBytes(ports.rateBps[port]!, ports.delayPs[port]!)
      reserveBytes += RESERVE_BYTES
    }
    if (headroomBytes + reserveBytes > worst.headroomBytes + worst.reserveBytes) {
      worst = { node, headroomBytes, reserveBytes }
    }
  }
  const { node, headroomBytes, reserveBytes } = worst
  const neededBytes = headroomBytes + reserveBytes
  if (bufferBytes >= neededBytes) return undefined
  const neededMib = Math.ceil(neededBytes / MIB)
  const kept = `switch ${node} keeps ${headroomBytes} bytes of headroom and ${reserveBytes} of reserve aside`
  if (neededMib > BUFFER_MIB_MAX) {
    const expected = "links of a shorter delay or a lower rate"
    const hint = `${kept}, and a buffer has at most ${BUFFER_MIB_MAX} MiB`
    return keyFault(configFile, "BUFFER_SIZE", { expected, hint })
  }
  const expected = `at least ${neededMib} MiB`
  const hint = `${kept}: enlarge the buffer or shorten its links`
  return keyFault(configFile, "BUFFER_SIZE", { expected, hint })
}

/** L2_BACK_TO_ZERO has chunks of whole packets. */
export const checkBackToZero = (configFile: ConfigFile): Ns3FormatError | undefined => {
  const { l2BackToZero, l2ChunkBytes, payloadBytes } = configFile.config
  if (!l2BackToZero || (l2ChunkBytes > 0 && l2ChunkBytes % payloadBytes === 0)) return undefined
  const hint = l2ChunkBytes === 0 ? "the simulator divides by it" : "a chunk that ends within a packet is not supported"
  const key = configFile.entries.has("L2_CHUNK_SIZE") ? "L2_CHUNK_SIZE" : "L2_BACK_TO_ZERO"
  const expected =
    key === "L2_CHUNK_SIZE"
      ? `with L2_BACK_TO_ZERO a multiple of PACKET_PAYLOAD_SIZE, ${payloadBytes}`
      : `0, or an L2_CHUNK_SIZE that is a multiple of PACKET_PAYLOAD_SIZE, ${payloadBytes}`
  return keyFault(configFile, key, { expected, hint })
}

/** LINK_DOWN names a link. */
export const checkLinkDown = (configFile: ConfigFile, graph: Graph): Ns3FormatError | undefined => {
  const { linkDown } = configFile.config
  if (linkDown === undefined) return undefined
  const { a, b } = linkDown
  const exists = graph.links.some((link) => (link.a === a && link.b === b) || (link.a === b && link.b === a))
  if (exists) return undefined
  const hint = `the topology has no link ${a} to ${b}`
  return keyFault(configFile, "LINK_DOWN", { expected: "two nodes that a link joins", hint })
}

/** The source of every flow can reach its destination. */
export const checkFlows = (
  flows: Ns3Flows,
  flowFile: string,
  topologyFile: string,
  routes: Routes,
): Ns3FormatError | undefined => {
  let first = -1
  let more = 0
  for (let flow = 0; flow < flows.count; flow++) {
    if (routes.reachable(flows.src[flow]!, flows.dst[flow]!)) continue
    if (first < 0) first = flow
    else more++
  }
  if (first < 0) return undefined
  const like = more === 0 ? "" : `; ${more} more ${more === 1 ? "flow has" : "flows have"} no path either`
  return new Ns3FormatError({
    file: flowFile,
    line: flows.line[first]!,
    column: 1,
    field: "destination node",
    found: String(flows.dst[first]),
    expected: `a host that ${flows.src[first]} can reach`,
    hint: `${topologyFile} has no path of links and switches between the two${like}`,
  })
}
