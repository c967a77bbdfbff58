import type { Graph } from "./Graph.ts"
import type { Ports } from "./Ports.ts"
import type { Routes } from "./Routes.ts"

/** Hosts that send to each other, in one lossless priority. */
export interface SendingPair {
  readonly source: number
  readonly destination: number
}

/**
 * A cyclic buffer dependency among the routes that these pairs of hosts use, or undefined: ports p₀, p₁, … between
 * switches, such that packets which arrive by pᵢ leave by pᵢ₊₁, and those of the last one by p₀. When all their far ends
 * are full, each waits for the next to be resumed, and none ever is: a PFC deadlock (Hu et al., Deadlocks in datacenter
 * networks, HotNets 2016; the condition is Dally and Seitz's of 1987). Without a cycle there can be none.
 *
 * Every equal-cost next hop counts as used. It is the shortest cycle through its lowest port, and begins with that.
 * Priorities have buffers of their own: ask for the pairs of each one. Pairs of hosts without a way are passed over.
 */
export const bufferCycle = (
  graph: Graph,
  ports: Ports,
  routes: Routes,
  pairs: Iterable<SendingPair>,
): ReadonlyArray<number> | undefined => {
  return portCycle(dependencies(graph, ports, routes, pairs))
}

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

/** Of each port between switches: the ports between switches by which packets go on that come by it. */
const dependencies = (graph: Graph, ports: Ports, routes: Routes, pairs: Iterable<SendingPair>): Dependencies => {
  const next = new Map<number, Set<number>>()
  const isSwitch = (node: number): boolean => graph.isSwitch[node] === 1
  for (const { destination, first } of groups(ports, routes, pairs, isSwitch)) {
    const onward = new Map<number, ReadonlyArray<number>>()
    const onwardOf = (node: number): ReadonlyArray<number> => {
      let list = onward.get(node)
      if (list === undefined) {
        list = Array.from(routes.nextHops(node, destination)).filter((port) => isSwitch(ports.peerNode(port)))
        onward.set(node, list)
      }
      return list
    }
    const seen = new Set(first)
    // A set is walked in the order of its growth: nodes that are added are visited too.
    for (const node of seen) {
      for (const port of onwardOf(node)) {
        const peer = ports.peerNode(port)
        seen.add(peer)
        let after = next.get(port)
        if (after === undefined) {
          after = new Set()
          next.set(port, after)
        }
        for (const further of onwardOf(peer)) after.add(further)
      }
    }
  }
  return next
}

/** Hosts behind the same switches are reached by the same ports between switches: one of each group will do. */
const groups = (
  ports: Ports,
  routes: Routes,
  pairs: Iterable<SendingPair>,
  isSwitch: (node: number) => boolean,
): Iterable<{ readonly destination: number; readonly first: Set<number> }> => {
  const numbers = new Map<string, number>()
  const ofHost = new Map<number, number>()
  const numberOf = (host: number): number => {
    let number = ofHost.get(host)
    if (number === undefined) {
      const switches = new Set([...ports.portsOf(host)].map((port) => ports.peerNode(port)))
      const key = [...switches].sort((a, b) => a - b).join()
      number = numbers.get(key) ?? numbers.size
      numbers.set(key, number)
      ofHost.set(host, number)
    }
    return number
  }
  const known = new Map<number, { destination: number; first: Set<number>; from: Set<number> }>()
  for (const { source, destination } of pairs) {
    const to = numberOf(destination)
    let group = known.get(to)
    if (group === undefined) {
      group = { destination, first: new Set(), from: new Set() }
      known.set(to, group)
    }
    const from = numberOf(source)
    if (group.from.has(from)) continue
    group.from.add(from)
    for (const port of routes.nextHops(source, destination)) {
      const node = ports.peerNode(port)
      if (isSwitch(node)) group.first.add(node)
    }
  }
  return known.values()
}

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
