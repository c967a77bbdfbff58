/** Whether the routes of lossless traffic can make switches wait for each other. */
import { BufferDependencies, cycleText, type Graph, type Ports, type Routes } from "@rdmakit/topology"
import type { InputNote } from "./InputsRefused.ts"

const PRIORITIES = 8

/** Packets from a host to another, in a priority. */
export interface Traffic {
  readonly source: number
  readonly destination: number
  readonly priority: number
}

/** What packets travel on. */
interface RoutedNetwork {
  readonly graph: Graph
  readonly ports: Ports
  readonly routes: Routes
}

/**
 * A warning for each priority whose routes have a cyclic buffer dependency, with the cycle.
 *
 * @param traffic flows; their acknowledgements go back
 * @param acknowledgements their priority, where it is not that of the flow; 0 is never paused
 */
export const deadlockWarnings = (
  network: RoutedNetwork,
  traffic: Iterable<Traffic>,
  place: Pick<InputNote, "file" | "line" | "column">,
  acknowledgements?: number,
): ReadonlyArray<InputNote> => {
  const { ports } = network
  const { file, line, column } = place
  const warnings: Array<InputNote> = []
  for (const [priority, dependencies] of byPriority(network, traffic, acknowledgements).entries()) {
    const cycle = dependencies?.cycle()
    if (cycle === undefined) continue
    const text = `the routes can deadlock: if PFC pauses priority ${priority} at all of these ports, each waits for the next: ${cycleText(cycle, ports)}`
    warnings.push({ file, line, column, kind: "warning", text })
  }
  return warnings
}

/** The dependencies of each priority that traffic has. */
const byPriority = (
  { graph, ports, routes }: RoutedNetwork,
  traffic: Iterable<Traffic>,
  acknowledgements: number | undefined,
): ReadonlyArray<BufferDependencies | undefined> => {
  const all = Array.from({ length: PRIORITIES }, (): BufferDependencies | undefined => undefined)
  const of = (priority: number): BufferDependencies => (all[priority] ??= new BufferDependencies(graph, ports, routes))
  for (const { source, destination, priority } of traffic) {
    of(priority).add(source, destination)
    const back = acknowledgements ?? priority
    if (back !== 0) of(back).add(destination, source)
  }
  return all
}
