import type { FlowInput } from "@rdmakit/fabric"
import type { Ns3Flows, Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Routes } from "@rdmakit/topology"
import type { FieldPath, ScenarioDocument } from "./ScenarioDocument.ts"
import type { ScenarioFlow } from "./ScenarioSchema.ts"

const FLOWS_MAX = 10_000_000

/** Every flow of a list, its ranges and counts spelled out; faults where it cannot be. */
export const listedFlows = (
  list: ReadonlyArray<ScenarioFlow>,
  graph: Graph,
  routes: Routes,
  document: ScenarioDocument,
): { readonly flows: ReadonlyArray<FlowInput>; readonly faults: ReadonlyArray<Ns3FormatError> } => {
  const flows: Array<FlowInput> = []
  const faults: Array<Ns3FormatError> = []
  for (const [index, entry] of list.entries()) {
    const fault = faultOf(entry, ["flows", index], graph, routes, document)
    if (fault !== undefined) {
      faults.push(fault)
      continue
    }
    const { from, to, size, start = 0, priority, count = 1 } = entry
    const pairs = Math.max(from.length, to.length)
    if (flows.length + pairs * count > FLOWS_MAX) {
      faults.push(document.fault(["flows", index], { expected: `at most ${FLOWS_MAX} flows in all` }))
      break
    }
    for (let i = 0; i < pairs; i++) {
      const source = from[from.length === 1 ? 0 : i]!
      const destination = to[to.length === 1 ? 0 : i]!
      for (let n = 0; n < count; n++) {
        flows.push({ source, destination, size, start, ...(priority === undefined ? {} : { priority }) })
      }
    }
  }
  return { flows, faults }
}

const faultOf = (
  { from, to }: ScenarioFlow,
  at: FieldPath,
  graph: Graph,
  routes: Routes,
  document: ScenarioDocument,
): Ns3FormatError | undefined => {
  for (const [key, nodes] of [
    ["from", from],
    ["to", to],
  ] as const) {
    for (const node of nodes) {
      if (node >= graph.nodes) {
        const hint = `node ${node} does not exist`
        return document.fault([...at, key], { expected: `nodes 0..${graph.nodes - 1}`, hint })
      }
      if (graph.isSwitch[node] === 1) {
        return document.fault([...at, key], { expected: "a host", hint: `node ${node} is a switch` })
      }
    }
  }
  if (from.length !== to.length && from.length !== 1 && to.length !== 1) {
    const hint = "two ranges go together host by host"
    return document.fault([...at, "to"], { expected: `one host, or ${from.length} as in from`, hint })
  }
  for (let i = 0; i < Math.max(from.length, to.length); i++) {
    const source = from[from.length === 1 ? 0 : i]!
    const destination = to[to.length === 1 ? 0 : i]!
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
