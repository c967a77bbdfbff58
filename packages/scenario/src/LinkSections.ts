/** What a scenario says of single links: packets lost on purpose, and faults. */
import type { LinkFault } from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Ports } from "@rdmakit/topology"
import type { FieldPath, FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioFault, ScenarioLoss } from "./ScenarioSchema.ts"
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

/** What happens to links, by time. */
export const faultsOf = (list: ReadonlyArray<ScenarioFault>, graph: Graph, ports: Ports, document: FieldSource) => {
  const { found, faults } = portsOf(list, "faults", graph, ports, document)
  const events: Array<LinkFault> = []
  for (const [index, port] of found.entries()) {
    const { at, state, loss } = list[index]!
    if (state === undefined && loss === undefined) {
      faults.push(document.fault(["faults", index], { expected: "state: down or up, or loss: a share" }))
    } else if (port !== undefined) {
      events.push({
        time: at,
        link: ports.link(port),
        ...(state === undefined ? {} : { up: state === "up" }),
        ...(loss === undefined ? {} : { lossRate: loss }),
      })
    }
  }
  return { events: events.toSorted((a, b) => a.time - b.time), faults }
}
