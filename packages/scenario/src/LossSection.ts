/** What a scenario says of packets lost on purpose, by single links. */
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Ports } from "@rdmakit/topology"
import type { FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioLoss } from "./ScenarioSchema.ts"
import { portBetween } from "./SwitchChecks.ts"

/** Ordinals of the packets to lose, by sending port; a fault for each entry whose nodes no link joins. */
export const lossesOf = (list: ReadonlyArray<ScenarioLoss>, graph: Graph, ports: Ports, document: FieldSource) => {
  const faults: Array<Ns3FormatError> = []
  const byPort = new Map<number, Set<number>>()
  for (const [index, { from, to, link = 0, packets }] of list.entries()) {
    const port = portBetween(graph, ports, from, to, link)
    if (typeof port === "string") {
      faults.push(document.fault(["losses", index], { expected: "two nodes that a link joins", hint: port }))
      continue
    }
    const lost = byPort.get(port) ?? new Set()
    for (const ordinal of packets) lost.add(ordinal)
    byPort.set(port, lost)
  }
  return { byPort, faults }
}
