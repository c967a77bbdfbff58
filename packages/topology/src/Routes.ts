import { type Graph, hostsOf } from "./Graph.ts"
import { networkTooLarge, sizeError } from "./NetworkSize.ts"
import type { Ports } from "./Ports.ts"
import { TopologyError } from "./TopologyError.ts"

export interface RoutesOptions {
  /**
   * How equal-cost next hops are ordered: by the number of the next node. A hash picks by position, so the order is
   * part of the result. Default "ascending". "breadth-first": as a search from the destination comes by them that looks at
   * neighbours in descending order, which is the public HPCC simulator's (CalculateRoute of third.cc) where its switches lie
   * in memory as they were made, the last one first; on its fat tree it is "descending".
   */
  readonly order?: "ascending" | "descending" | "breadth-first"
  /**
   * What parallel links between two nodes mean. "all" (default): each is a next hop, in the order they were listed.
   * "last": only the last one listed exists for routing, up or down, as in the HPCC simulator, whose neighbour table
   * has one entry per node.
   */
  readonly parallel?: "all" | "last"
}

/**
 * Shortest paths to every host, by number of links. A path goes through switches only: a host with several links
 * never forwards.
 *
 * The next hops of all (node, host) pairs lie in two flat arrays that a hot path may read itself:
 * `table[start[e]] … table[start[e + 1] - 1]` with `e = node · hosts.length + hostIndex[destination]`.
 * `setLink` replaces `start`, `table` and adds one to `version`: whoever caches routes compares it.
 */
export class Routes {
  /** The hosts, ascending. */
  readonly hosts: Int32Array
  /** The position of a node in `hosts`; -1 for a switch. */
  readonly hostIndex: Int32Array
  /** Where the next hops of a (node, host) pair begin in `table`; nodes · hosts + 1 entries. */
  start: Int32Array
  /** Egress ports. */
  table: Int32Array = new Int32Array(0)
  /** How often the routes have changed. */
  version = 0
  /** Switches on the longest of the shortest paths between two hosts; 0 when no two hosts are connected through one. */
  maxHops = 0

  private readonly graph: Graph
  private readonly ports: Ports
  private readonly up: Uint8Array
  /** Links to walk from a (node, host) pair to that host, -1 when there is no way; [node · hosts + host position]. */
  private links: Int32Array
  /** "breadth-first" only: when a search from a host came by a switch, laid out as `links`. */
  private visits: Uint16Array | undefined
  /** Routable ports of each node in next-hop order, with where each node's begin. */
  private readonly ordered: Int32Array
  private readonly first: Int32Array

  /**
   * @param options or routes of the same graph, to go on from as they are: they do not change with these
   * @throws TopologyError "size" where packets cannot name all nodes and links, or routes find no room: nodes times hosts
   * above 2.5e8
   */
  constructor(graph: Graph, ports: Ports, options: RoutesOptions | Routes = {}) {
    this.graph = graph
    this.ports = ports
    if (options instanceof Routes) {
      this.hosts = options.hosts
      this.hostIndex = options.hostIndex
      this.up = options.up.slice()
      this.links = options.links
      this.visits = options.visits
      this.start = options.start
      this.table = options.table
      this.maxHops = options.maxHops
      this.first = options.first
      this.ordered = options.ordered
      return
    }
    requireRoom(graph)
    this.hosts = hostsOf(graph)
    this.hostIndex = new Int32Array(graph.nodes).fill(-1)
    for (let index = 0; index < this.hosts.length; index++) this.hostIndex[this.hosts[index]!] = index
    this.up = new Uint8Array(graph.links.length).fill(1)
    this.links = new Int32Array(0)
    this.visits = options.order === "breadth-first" ? new Uint16Array(0) : undefined
    this.start = new Int32Array(0)
    this.first = new Int32Array(graph.nodes + 1)
    this.ordered = new Int32Array(ports.count)
    this.order(options.order ?? "ascending", options.parallel ?? "all")
    this.compute()
  }

  /**
   * The egress ports at `node` on a shortest path to the host `destination`; empty at the destination itself and
   * where there is no way. A view into `table`.
   *
   * @throws TopologyError "not-a-host"
   */
  nextHops(node: number, destination: number): Int32Array {
    const entry = node * this.hosts.length + this.position(destination)
    return this.table.subarray(this.start[entry], this.start[entry + 1])
  }

  /**
   * How many next hops there are; 0 at the destination itself and where there is no way.
   *
   * @throws TopologyError "not-a-host"
   */
  nextHopCount(node: number, destination: number): number {
    const entry = node * this.hosts.length + this.position(destination)
    return this.start[entry + 1]! - this.start[entry]!
  }

  /**
   * One of the next hops, `index` from 0 to below their count: its egress port.
   *
   * @throws TopologyError "not-a-host"
   */
  nextHop(node: number, destination: number, index: number): number {
    return this.table[this.start[node * this.hosts.length + this.position(destination)]! + index]!
  }

  /**
   * Links on the shortest path from `node` to the host `destination`; -1 when there is none.
   *
   * @throws TopologyError "not-a-host"
   */
  distance(node: number, destination: number): number {
    return this.links[node * this.hosts.length + this.position(destination)] ?? -1
  }

  /**
   * Whether packets of `source` can arrive at the host `destination`.
   *
   * @throws TopologyError "not-a-host"
   */
  reachable(source: number, destination: number): boolean {
    return this.distance(source, destination) >= 0
  }

  /**
   * Takes a link down or up again and computes every route anew, which costs as much as making them.
   *
   * @throws TopologyError "unknown-link"
   */
  setLink(link: number, up: boolean): void {
    if (this.up[link] === undefined) throw new TopologyError("unknown-link", `link ${link} does not exist`, { link })
    if (this.up[link] === Number(up)) return
    this.up[link] = Number(up)
    this.version++
    this.compute()
  }

  /** Whether a link is up. */
  isUp(link: number): boolean {
    return this.up[link] === 1
  }

  private position(host: number): number {
    const index = this.hostIndex[host] ?? -1
    if (index < 0) throw new TopologyError("not-a-host", `node ${host} is not a host`, { node: host })
    return index
  }

  /** Sorts each node's ports once: ports to one neighbour stay in the order their links were listed. */
  private order(order: NonNullable<RoutesOptions["order"]>, parallel: "all" | "last"): void {
    const sign = order === "ascending" ? 1 : -1
    let count = 0
    for (let node = 0; node < this.graph.nodes; node++) {
      this.first[node] = count
      const own = this.ports.portsOf(node)
      const ports = own.length === 1 ? own : this.inOrder(own, sign, parallel)
      this.ordered.set(ports, count)
      count += ports.length
    }
    this.first[this.graph.nodes] = count
  }

  private inOrder(own: Int32Array, sign: number, parallel: "all" | "last"): ReadonlyArray<number> {
    let ports = [...own]
    if (parallel === "last") {
      const last = new Map(ports.map((port) => [this.ports.peerNode(port), port]))
      ports = ports.filter((port) => last.get(this.ports.peerNode(port)) === port)
    }
    return ports.sort((p, q) => sign * (this.ports.peerNode(p) - this.ports.peerNode(q)) || p - q)
  }

  private compute(): void {
    const like = this.alike()
    this.measure(like)
    this.list(like)
  }

  /** Distances to every host. Hosts that are alike are equally far from all others: one is looked at for all. */
  private measure(like: Int32Array): void {
    const { nodes } = this.graph
    const hosts = this.hosts
    const count = hosts.length
    const links = new Int32Array(nodes * count)
    const queue = new Int32Array(nodes)
    const distance = new Int32Array(nodes)
    const visits = this.visits === undefined ? undefined : new Uint16Array(nodes * count)
    let longest = 0
    for (let index = 0; index < count; index++) {
      if (like[index] !== index) continue
      longest = Math.max(longest, this.walk(hosts[index]!, distance, queue))
      setColumn(links, index, count, distance)
      if (visits !== undefined) setVisits(visits, index, count, queue)
    }
    for (let at = 0; at < nodes; at++) {
      copyAlike(links, at * count, like)
      if (visits !== undefined) copyAlike(visits, at * count, like)
    }
    for (let index = 0; index < count; index++) {
      const other = like[index]!
      if (other === index) continue
      links[hosts[other]! * count + index] = links[hosts[index]! * count + other]!
      links[hosts[index]! * count + index] = 0
    }
    this.links = links
    this.visits = visits
    this.maxHops = longest > 0 ? longest - 1 : 0
  }

  /** Of each host, by position, the first one that is linked to the same one switch and nothing else; itself elsewhere. */
  private alike(): Int32Array {
    const { hosts, ordered, first, up } = this
    const { isSwitch } = this.graph
    const at = new Int32Array(this.graph.nodes).fill(-1)
    return hosts.map((host, index) => {
      let only = -1
      for (let i = first[host]!; i < first[host + 1]!; i++) {
        const port = ordered[i]!
        if (up[port >> 1] === 0) continue
        const neighbour = this.ports.node[port ^ 1]!
        if (isSwitch[neighbour] === 0 || (only >= 0 && only !== neighbour)) return index
        only = neighbour
      }
      if (only < 0) return index
      if (at[only] === -1) at[only] = index
      return at[only]!
    })
  }

  /**
   * Breadth first from a host, over links that are up; other hosts are leaves. Returns the distance of the furthest one.
   *
   * @param distance of each node, -1 without a way: written here
   * @param queue as long as there are nodes; the switches in the order in which they come, after the host, and -1 at the end
   */
  private walk(origin: number, distance: Int32Array, queue: Int32Array): number {
    const { isSwitch } = this.graph
    const { up, ordered, first } = this
    const node = this.ports.node
    let longest = 0
    distance.fill(-1)
    distance[origin] = 0
    queue[0] = origin
    let tail = 1
    for (let head = 0; head < tail; head++) {
      const at = queue[head]!
      const next = distance[at]! + 1
      const end = first[at + 1]!
      for (let i = first[at]!; i < end; i++) {
        const port = ordered[i]!
        const neighbour = node[port ^ 1]!
        if (distance[neighbour]! >= 0 || up[port >> 1] === 0) continue
        distance[neighbour] = next
        if (isSwitch[neighbour] === 1) queue[tail++] = neighbour
        else longest = next
      }
    }
    if (tail < queue.length) queue[tail] = -1
    return longest
  }

  private list(like: Int32Array): void {
    const { nodes } = this.graph
    const { first, hosts } = this
    const start = new Int32Array(nodes * hosts.length + 1)
    let table = new Int32Array(Math.max(1024, start.length * 2))
    let count = 0
    for (let at = 0; at < nodes; at++) {
      const most = (first[at + 1]! - first[at]!) * hosts.length
      if (count + most > table.length) table = grown(table, count + most)
      count = this.listFrom(at, like, start, table, count)
    }
    start[nodes * hosts.length] = count
    this.start = start
    this.table = table.slice(0, count)
  }

  /** The next hops of one node; to hosts that are alike they are the same, unless the node is one of them or next to them. */
  private listFrom(at: number, like: Int32Array, start: Int32Array, table: Int32Array, begin: number): number {
    const { links, hosts } = this
    const row = at * hosts.length
    let count = begin
    for (let index = 0; index < hosts.length; index++) {
      start[row + index] = count
      const distance = links[row + index]!
      if (distance <= 0) continue
      const other = like[index]!
      if (other === index || distance === 1 || hosts[other] === at) count = this.listTo(at, index, table, count)
      else {
        const end = start[row + other + 1]!
        for (let i = start[row + other]!; i < end; i++) table[count++] = table[i]!
      }
    }
    return count
  }

  /** A port is a next hop when its far end is one link nearer, and is a switch or the destination. */
  private listTo(at: number, index: number, table: Int32Array, begin: number): number {
    const { isSwitch } = this.graph
    const { up, links, ordered, first, hosts } = this
    const node = this.ports.node
    const nearer = links[at * hosts.length + index]! - 1
    const end = first[at + 1]!
    let count = begin
    for (let i = first[at]!; i < end; i++) {
      const port = ordered[i]!
      const neighbour = node[port ^ 1]!
      if (links[neighbour * hosts.length + index] !== nearer || up[port >> 1] === 0) continue
      if (isSwitch[neighbour] === 1 || neighbour === hosts[index]) table[count++] = port
    }
    if (this.visits !== undefined && count - begin > 1) this.sortByVisit(this.visits, index, table, begin, count)
    return count
  }

  /** Sorts the next hops to a host by when the search from there came by them; few, and mostly in order. */
  private sortByVisit(visits: Uint16Array, index: number, table: Int32Array, begin: number, end: number): void {
    const columns = this.hosts.length
    const node = this.ports.node
    for (let i = begin + 1; i < end; i++) {
      const port = table[i]!
      const visit = visits[node[port ^ 1]! * columns + index]!
      let at = i
      for (; at > begin && visits[node[table[at - 1]! ^ 1]! * columns + index]! > visit; at--)
        table[at] = table[at - 1]!
      table[at] = port
    }
  }
}

/** @throws TopologyError "size" */
const requireRoom = (graph: Graph): void => {
  const unnamed = sizeError(graph.nodes, graph.links.length)
  if (unnamed !== undefined) throw unnamed
  const tooLarge = networkTooLarge(graph)
  if (tooLarge === undefined) return
  throw new TopologyError("size", `routes have no room: ${tooLarge}`)
}

const setColumn = (links: Int32Array, index: number, columns: number, values: Int32Array): void => {
  for (let at = 0; at < values.length; at++) links[at * columns + index] = values[at]!
}

const setVisits = (visits: Uint16Array, index: number, columns: number, queue: Int32Array): void => {
  for (let at = 1; at < queue.length && queue[at]! >= 0; at++) visits[queue[at]! * columns + index] = at
}

/** Gives each host of a row what the host like it has there. */
const copyAlike = (matrix: Int32Array | Uint16Array, row: number, like: Int32Array): void => {
  for (let index = 0; index < like.length; index++) matrix[row + index] = matrix[row + like[index]!]!
}

const grown = (table: Int32Array, needed: number): Int32Array<ArrayBuffer> => {
  const larger = new Int32Array(Math.max(table.length * 2, needed))
  larger.set(table)
  return larger
}
