import type { Graph } from "./Graph.ts"
import { portCycle } from "./PortCycle.ts"
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
  const dependencies = new BufferDependencies(graph, ports, routes)
  for (const { source, destination } of pairs) dependencies.add(source, destination)
  return dependencies.cycle()
}

/** Hosts behind the same switches, as destinations: one of them stands for all. */
interface Destinations {
  readonly host: number
  /** The switches at which what is sent there comes in. */
  readonly entries: Set<number>
}

/** What `bufferCycle` looks for among pairs that are added one by one. */
export class BufferDependencies {
  private readonly graph: Graph
  private readonly ports: Ports
  private readonly routes: Routes
  /** Hosts behind the same switches are reached by the same ports between switches: they have one number. */
  private readonly groupOf: Int32Array
  private readonly groups = new Map<string, number>()
  private readonly destinations = new Map<number, Destinations>()
  /** Pairs of groups that have been added. */
  private readonly known = new Set<number>()
  /** Ports between switches by which packets to some destination leave a switch, each such set of ports once. */
  private readonly ways: Array<ReadonlyArray<number>> = []
  private readonly numbers = new Map<string, number>()
  /** Of each port between switches: the ways by which packets go on that come by it. */
  private readonly next = new Map<number, Set<number>>()

  constructor(graph: Graph, ports: Ports, routes: Routes) {
    this.graph = graph
    this.ports = ports
    this.routes = routes
    this.groupOf = new Int32Array(graph.nodes).fill(-1)
  }

  /** The source sends to the destination; both are hosts. */
  add(source: number, destination: number): void {
    const pair = this.group(source) * this.graph.nodes + this.group(destination)
    if (this.known.has(pair)) return
    this.known.add(pair)
    this.enter(source, destination)
  }

  /** The answer of `bufferCycle` for the pairs so far. */
  cycle(): ReadonlyArray<number> | undefined {
    this.next.clear()
    for (const destinations of this.destinations.values()) this.follow(destinations)
    if (this.endsEverywhere()) return undefined
    const next = new Map<number, Set<number>>()
    for (const [port, ways] of this.next) next.set(port, new Set([...ways].flatMap((way) => this.ways[way]!)))
    return portCycle(next)
  }

  private enter(source: number, destination: number): void {
    const to = this.group(destination)
    const destinations = this.destinations.get(to) ?? { host: destination, entries: new Set() }
    this.destinations.set(to, destinations)
    for (const port of this.routes.nextHops(source, destination)) {
      const node = this.ports.peerNode(port)
      if (this.graph.isSwitch[node] === 1) destinations.entries.add(node)
    }
  }

  private group(host: number): number {
    const known = this.groupOf[host]!
    return known >= 0 ? known : this.groupAnew(host)
  }

  private groupAnew(host: number): number {
    const switches = new Set(Array.from(this.ports.portsOf(host), (port) => this.ports.peerNode(port)))
    const key = [...switches].sort((a, b) => a - b).join()
    const number = this.groups.get(key) ?? this.groups.size
    this.groups.set(key, number)
    this.groupOf[host] = number
    return number
  }

  /** Follows packets from switch to switch. */
  private follow({ host, entries }: Destinations): void {
    const ways = new Map<number, number>()
    const wayFrom = (node: number): number => {
      const way = ways.get(node) ?? this.way(node, host)
      ways.set(node, way)
      return way
    }
    // A set is walked in the order of its growth: nodes that are added are visited too.
    const seen = new Set(entries)
    for (const node of seen) {
      for (const port of this.ways[wayFrom(node)]!) {
        const peer = this.ports.peerNode(port)
        seen.add(peer)
        const after = this.next.get(port)
        if (after === undefined) this.next.set(port, new Set([wayFrom(peer)]))
        else after.add(wayFrom(peer))
      }
    }
  }

  private way(node: number, destination: number): number {
    const { graph, ports, routes } = this
    const list = Array.from(routes.nextHops(node, destination)).filter(
      (port) => graph.isSwitch[ports.peerNode(port)] === 1,
    )
    const key = list.join()
    const number = this.numbers.get(key) ?? this.ways.length
    if (number === this.ways.length) {
      this.ways.push(list)
      this.numbers.set(key, number)
    }
    return number
  }

  /** Whether no way leads back to itself: those that nothing leads to are taken away, one by one, and none is left. */
  private endsEverywhere(): boolean {
    const incoming = new Int32Array(this.ways.length)
    for (let way = 0; way < incoming.length; way++) {
      this.onward(way, (next) => {
        incoming[next]! += 1
      })
    }
    const open = [...incoming.keys()].filter((way) => incoming[way] === 0)
    for (const way of open) {
      this.onward(way, (next) => {
        if (--incoming[next]! === 0) open.push(next)
      })
    }
    return open.length === this.ways.length
  }

  private onward(way: number, visit: (next: number) => void): void {
    for (const port of this.ways[way]!) this.next.get(port)?.forEach(visit)
  }
}
