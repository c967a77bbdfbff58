/** What a scenario says of packets lost on purpose, by single links. */
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Ports } from "@rdmakit/topology"
import { type InputNote, warningAt } from "./InputsRefused.ts"
import type { FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioLoss } from "./ScenarioSchema.ts"
import { portBetween } from "./SwitchChecks.ts"

/**
 * Ordinals of the packets to lose, by sending port; a fault for each entry whose nodes no link joins, a warning for each
 * that loses nothing.
 */
export const lossesOf = (list: ReadonlyArray<ScenarioLoss>, graph: Graph, ports: Ports, document: FieldSource) => {
  const faults: Array<Ns3FormatError> = []
  const notes: Array<InputNote> = []
  const byPort = new Map<number, Set<number>>()
  for (const [index, { from, to, link = 0, packets }] of list.entries()) {
    const port = portBetween(graph, ports, from, to, link)
    if (typeof port === "string") {
      faults.push(document.fault(["losses", index], { expected: "two nodes that a link joins", hint: port }))
      continue
    }
    if (packets.length === 0)
      notes.push(warningAt(["losses", index, "packets"], "no packet is named: none is lost", document))
    const lost = byPort.get(port) ?? new Set()
    for (const ordinal of packets) lost.add(ordinal)
    byPort.set(port, lost)
  }
  return { byPort, faults, notes }
}
