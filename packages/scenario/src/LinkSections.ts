/** What a scenario says of packets lost on purpose, by single links. */
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Ports } from "@rdmakit/topology"
import type { FieldPath, FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioLoss } from "./ScenarioSchema.ts"
import { portBetween } from "./SwitchChecks.ts"

interface Between {
  readonly from: number
  readonly to: number
  readonly link?: number
}

/** The ports that entries name, by entry; where there is none, a fault. */
const portsOf = (
  entries: ReadonlyArray<Between>,
  section: string,
  graph: Graph,
  ports: Ports,
  document: FieldSource,
) => {
  const faults: Array<Ns3FormatError> = []
  const found = entries.map(({ from, to, link = 0 }, index) => {
    const port = portBetween(graph, ports, from, to, link)
    if (typeof port === "number") return port
    const path: FieldPath = [section, index]
    faults.push(document.fault(path, { expected: "two nodes that a link joins", hint: port }))
    return undefined
  })
  return { found, faults }
}

/** Ordinals of the packets to lose, by sending port. */
export const lossesOf = (list: ReadonlyArray<ScenarioLoss>, graph: Graph, ports: Ports, document: FieldSource) => {
  const { found, faults } = portsOf(list, "losses", graph, ports, document)
  const byPort = new Map<number, Set<number>>()
  for (const [index, port] of found.entries()) {
    if (port === undefined) continue
    const lost = byPort.get(port) ?? new Set()
    for (const ordinal of list[index]!.packets) lost.add(ordinal)
    byPort.set(port, lost)
  }
  return { byPort, faults }
}
