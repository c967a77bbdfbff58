/** Whether the routes of lossless traffic can make switches wait for each other. */
import { BufferDependencies, cycleText, type Graph, type Ports, type Routes } from "@rdmakit/topology"
import type { InputNote } from "./InputsRefused.ts"

/** Packets from a host to another, in a priority. */
export interface Traffic {
  readonly source: number
  readonly destination: number
  readonly priority: number
}

/**
 * A warning for each priority whose routes have a cyclic buffer dependency, with the cycle.
 *
 * @param traffic flows; their acknowledgements go back
 * @param acknowledgements their priority, where it is not that of the flow; 0 is never paused
 */
export const deadlockWarnings = (
  network: { readonly graph: Graph; readonly ports: Ports; readonly routes: Routes },
  traffic: Iterable<Traffic>,
  place: Pick<InputNote, "file" | "line" | "column">,
  acknowledgements?: number,
): ReadonlyArray<InputNote> => {
  const { graph, ports, routes } = network
  const { file, line, column } = place
  const priorities = new Map<number, BufferDependencies>()
  const dependenciesOf = (priority: number): BufferDependencies => {
    const known = priorities.get(priority)
    if (known !== undefined) return known
    const made = new BufferDependencies(graph, ports, routes)
    priorities.set(priority, made)
    return made
  }
  for (const { source, destination, priority } of traffic) {
    dependenciesOf(priority).add(source, destination)
    const back = acknowledgements ?? priority
    if (back !== 0) dependenciesOf(back).add(destination, source)
  }
  const warnings: Array<InputNote> = []
  for (const [priority, dependencies] of [...priorities].sort(([a], [b]) => a - b)) {
    const cycle = dependencies.cycle()
    if (cycle === undefined) continue
    const text = `the routes can deadlock: if PFC pauses priority ${priority} at all of these ports, each waits for the next: ${cycleText(cycle, ports)}`
    warnings.push({ file, line, column, kind: "warning", text })
  }
  return warnings
}
