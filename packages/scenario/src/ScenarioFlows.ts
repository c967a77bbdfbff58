import type { FlowInput } from "@rdmakit/fabric"
import type { Ns3Flows, Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Routes } from "@rdmakit/topology"
import { pairCount, pairsOf, unpaired } from "./NodePairs.ts"
import type { FieldPath, FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioFlow } from "./ScenarioSchema.ts"

export const FLOWS_MAX = 10_000_000

/** How many flows an entry of the list is. */
export const countOf = ({ from, to, count = 1 }: ScenarioFlow): number => pairCount(from, to) * count

/** Every flow of an entry, its ranges and its count spelled out. */
export const listedFlows = (entry: ScenarioFlow): ReadonlyArray<FlowInput> => {
  const { from, to, size, start = 0, priority, count = 1 } = entry
  const flows: Array<FlowInput> = []
  for (const [source, destination] of pairsOf(from, to)) {
    for (let n = 0; n < count; n++) {
      flows.push({ source, destination, size, start, ...(priority === undefined ? {} : { priority }) })
    }
  }
  return flows
}

/** A fault where one of the nodes is no host. */
export const nodeFault = (
  nodes: ReadonlyArray<number>,
  at: FieldPath,
  graph: Graph,
  document: FieldSource,
): Ns3FormatError | undefined => {
  for (const node of nodes) {
    if (node >= graph.nodes) {
      return document.fault(at, { expected: `nodes 0..${graph.nodes - 1}`, hint: `node ${node} does not exist` })
    }
    if (graph.isSwitch[node] === 1) {
      return document.fault(at, { expected: "a host", hint: `node ${node} is a switch` })
    }
  }
  return undefined
}

/** What is wrong with an entry of the list; undefined when nothing is. */
export const entryFault = (
  { from, to }: ScenarioFlow,
  at: FieldPath,
  graph: Graph,
  routes: Routes,
  document: FieldSource,
): Ns3FormatError | undefined => {
  for (const [key, nodes] of [
    ["from", from],
    ["to", to],
  ] as const) {
    const fault = nodeFault(nodes, [...at, key], graph, document)
    if (fault !== undefined) return fault
  }
  const apart = unpaired(from, to, "host")
  if (apart !== undefined) return document.fault([...at, "to"], apart)
  for (const [source, destination] of pairsOf(from, to)) {
    if (source === destination) {
      return document.fault([...at, "to"], { expected: `a host other than ${source}`, hint: "a flow joins two hosts" })
    }
    if (!routes.reachable(source, destination)) {
      const hint = `no path of links and switches leads from ${source} to ${destination}`
      return document.fault([...at, "to"], { expected: `a host that ${source} can reach`, hint })
    }
  }
  return undefined
}

/** The flows of an ns-3 flow file. */
export const filedFlows = (flows: Ns3Flows): ReadonlyArray<FlowInput> =>
  Array.from({ length: flows.count }, (_, i) => ({
    source: flows.src[i]!,
    destination: flows.dst[i]!,
    size: flows.sizeBytes[i]!,
    start: flows.startPs[i]!,
    priority: flows.pg[i]!,
    destinationPort: flows.dport[i]!,
  }))
