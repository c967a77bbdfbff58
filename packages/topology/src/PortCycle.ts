import type { Ports } from "./Ports.ts"

/**
 * A cycle of ports that wait for others: the shortest through the lowest port of some cycle, which it begins with.
 *
 * @param next of each port, those it waits for
 */
export const portCycle = (next: ReadonlyMap<number, ReadonlySet<number>>): ReadonlyArray<number> | undefined => {
  const inCycle = someCycle(next)
  return inCycle === undefined ? undefined : shortestCycle(next, Math.min(...inCycle))
}

/** A cycle in words: "node 4 (port 2) -> node 5 (port 3) -> node 4"; ports as each node counts them, from 1. */
export const cycleText = (cycle: ReadonlyArray<number>, ports: Ports): string => {
  const steps = cycle.map((port) => `node ${ports.node[port]} (port ${ports.iface[port]})`)
  return [...steps, `node ${ports.node[cycle[0]!]}`].join(" -> ")
}

type Dependencies = ReadonlyMap<number, ReadonlySet<number>>

/** Ports of some cycle, in depth-first order from the lowest; undefined where there is none. */
const someCycle = (next: Dependencies): ReadonlyArray<number> | undefined => {
  const done = new Set<number>()
  for (const start of [...next.keys()].sort((a, b) => a - b)) {
    if (done.has(start)) continue
    const path: Array<{ readonly port: number; readonly left: Array<number> }> = []
    const onPath = new Map<number, number>()
    const enter = (port: number): void => {
      onPath.set(port, path.length)
      path.push({ port, left: [...(next.get(port) ?? [])].sort((a, b) => b - a) })
    }
    enter(start)
    while (path.length > 0) {
      const { port, left } = path.at(-1)!
      const further = left.pop()
      if (further === undefined) {
        path.pop()
        onPath.delete(port)
        done.add(port)
        continue
      }
      const at = onPath.get(further)
      if (at !== undefined) return path.slice(at).map((step) => step.port)
      if (!done.has(further)) enter(further)
    }
  }
  return undefined
}

/** Breadth first from a port of a cycle back to itself. */
const shortestCycle = (next: Dependencies, from: number): ReadonlyArray<number> => {
  const before = new Map<number, number>()
  const queue = [from]
  for (const port of queue) {
    for (const further of [...(next.get(port) ?? [])].sort((a, b) => a - b)) {
      if (further === from) {
        const cycle = [port]
        while (cycle[0] !== from) cycle.unshift(before.get(cycle[0]!)!)
        return cycle
      }
      if (before.has(further)) continue
      before.set(further, port)
      queue.push(further)
    }
  }
  return []
}
