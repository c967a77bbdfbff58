/** Whether the routes of lossless traffic can make switches wait for each other. */
import { bufferCycle, cycleText, type Graph, type Ports, type Routes } from "@rdmakit/topology"
import type { InputNote } from "./InputsRefused.ts"

/** Packets from a host to another, in a priority. */
export interface Traffic {
  readonly source: number
  readonly destination: number
  readonly priority: number
}

/** A warning for each priority whose routes have a cyclic buffer dependency, with the cycle. */
export const deadlockWarnings = (
  network: { readonly graph: Graph; readonly ports: Ports; readonly routes: Routes },
  traffic: () => Iterable<Traffic>,
  { file, line, column }: Pick<InputNote, "file" | "line" | "column">,
): ReadonlyArray<InputNote> => {
  const { graph, ports, routes } = network
  const priorities = new Set<number>()
  for (const { priority } of traffic()) priorities.add(priority)
  const warnings: Array<InputNote> = []
  for (const priority of [...priorities].sort((a, b) => a - b)) {
    const pairs = priorities.size === 1 ? traffic() : ofPriority(traffic(), priority)
    const cycle = bufferCycle(graph, ports, routes, pairs)
    if (cycle === undefined) continue
    const text = `the routes can deadlock: if PFC pauses priority ${priority} at all of these ports, each waits for the next: ${cycleText(cycle, ports)}`
    warnings.push({ file, line, column, kind: "warning", text })
  }
  return warnings
}

function* ofPriority(traffic: Iterable<Traffic>, priority: number): Generator<Traffic> {
  for (const each of traffic) if (each.priority === priority) yield each
}

/** Flows there, and their acknowledgements back, which have the same priority or one of their own; 0 is never paused. */
export function* withAcknowledgements(flows: Iterable<Traffic>, acknowledgements?: number): Generator<Traffic> {
  for (const { source, destination, priority } of flows) {
    yield { source, destination, priority }
    const back = acknowledgements ?? priority
    if (back !== 0) yield { source: destination, destination: source, priority: back }
  }
}
