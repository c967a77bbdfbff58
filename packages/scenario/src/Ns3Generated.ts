/** Networks and flows made in code, as the HPCC simulator's files have them. */
import { flowsOf, type Ns3Flow, type Ns3Flows, type Ns3Topology } from "@rdmakit/ns3"
import type { Graph } from "@rdmakit/topology"
import type { WorkloadFlow } from "@rdmakit/workload"

/** A graph as a topology file has it. */
export const ns3TopologyOf = (graph: Graph): Ns3Topology => ({
  nodes: graph.nodes,
  switches: [...graph.isSwitch.keys()].filter((node) => graph.isSwitch[node] === 1),
  links: graph.links.map((link) => ({ ...link, line: 0 })),
  notes: [],
})

/**
 * Flows as a flow file has them, by start.
 *
 * @throws Ns3FormatError for a start after 9,000 s, which the simulator does not reach
 */
export const ns3FlowsOf = (flows: ReadonlyArray<WorkloadFlow>): Ns3Flows => flowsOf(flows.map(ns3FlowOf))

/** One flow as a flow file has it. */
export const ns3FlowOf = (flow: WorkloadFlow): Ns3Flow => ({
  src: flow.source,
  dst: flow.destination,
  pg: flow.priority,
  dport: flow.destinationPort,
  sizeBytes: flow.sizeBytes,
  startPs: flow.startPs,
})
