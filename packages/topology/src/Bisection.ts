import { type Graph, hostsOf } from "./Graph.ts"

/**
 * The most that the first half of the hosts can send to the second half at a time, bit/s, one way: the maximum flow
 * from the first ⌊n / 2⌋ of them to the others, their own links included, over any paths through switches. Where hosts
 * are numbered rack by rack, as builders number them, this is the bisection bandwidth; of all ways to halve a network
 * it is one.
 *
 * @param hosts those that count, in the order in which they are halved. Default: all, ascending
 * @returns 0 with fewer than two hosts, and where no way leads across
 */
export const bisectionBps = (graph: Graph, hosts: ArrayLike<number> = hostsOf(graph)): number => {
  const half = Math.floor(hosts.length / 2)
  const network = new FlowNetwork(graph.nodes + 2, 2 * graph.links.length + hosts.length)
  const source = graph.nodes
  const sink = graph.nodes + 1
  const side = graph.isSwitch.map((isSwitch) => (isSwitch === 1 ? SWITCH : NEITHER))
  for (let i = 0; i < hosts.length; i++) side[hosts[i]!] = i < half ? FIRST : SECOND
  const own = new Float64Array(graph.nodes)
  for (const { a, b, rateBps } of graph.links) {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      // No host forwards: nothing enters those that send, nothing leaves those that receive.
      if (side[from]! <= FIRST && (side[to] === SWITCH || side[to] === SECOND)) network.edge(from, to, rateBps)
    }
    own[a]! += rateBps
    own[b]! += rateBps
  }
  for (let i = 0; i < hosts.length; i++) {
    const host = hosts[i]!
    if (i < half) network.edge(source, host, own[host]!)
    else network.edge(host, sink, own[host]!)
  }
  return network.maximum(source, sink)
}

const SWITCH = 0
const FIRST = 1
const SECOND = 2
const NEITHER = 3
const NONE = -1

/** Maximum flow by Dinic's algorithm (1970): level by level from the source, then along levels until nothing fits. */
class FlowNetwork {
  private readonly nodes: number
  /** Edge e and its reverse, e ^ 1. */
  private readonly to: Int32Array
  private readonly room: Float64Array
  private readonly next: Int32Array
  private readonly first: Int32Array
  private readonly level: Int32Array
  private count = 0

  constructor(nodes: number, edges: number) {
    this.nodes = nodes
    this.to = new Int32Array(2 * edges)
    this.room = new Float64Array(2 * edges)
    this.next = new Int32Array(2 * edges)
    this.first = new Int32Array(nodes).fill(NONE)
    this.level = new Int32Array(nodes)
  }

  edge(from: number, to: number, capacity: number): void {
    this.half(from, to, capacity)
    this.half(to, from, 0)
  }

  private half(from: number, to: number, capacity: number): void {
    const e = this.count++
    this.to[e] = to
    this.room[e] = capacity
    this.next[e] = this.first[from]!
    this.first[from] = e
  }

  maximum(source: number, sink: number): number {
    let total = 0
    while (this.levels(source, sink)) total += this.blocking(source, sink)
    return total
  }

  /** Numbers nodes by their distance over edges with room; false when the sink is out of reach. */
  private levels(source: number, sink: number): boolean {
    const { to, room, next, first, level } = this
    level.fill(NONE)
    level[source] = 0
    const queue = new Int32Array(this.nodes)
    queue[0] = source
    let tail = 1
    for (let head = 0; head < tail; head++) {
      const at = queue[head]!
      for (let e = first[at]!; e !== NONE; e = next[e]!) {
        if (room[e]! <= 0 || level[to[e]!] !== NONE) continue
        level[to[e]!] = level[at]! + 1
        queue[tail++] = to[e]!
      }
    }
    return level[sink] !== NONE
  }

  /** Sends along levels until every way is full. The path is kept in an array: it may be longer than a stack is deep. */
  private blocking(source: number, sink: number): number {
    const { to, room, next, level } = this
    const current = this.first.slice()
    const path = new Int32Array(this.nodes)
    let length = 0
    let at = source
    let total = 0
    for (;;) {
      if (at === sink) {
        let least = Number.POSITIVE_INFINITY
        for (let i = 0; i < length; i++) least = Math.min(least, room[path[i]!]!)
        let shortest = length
        for (let i = length - 1; i >= 0; i--) {
          room[path[i]!]! -= least
          room[path[i]! ^ 1]! += least
          if (room[path[i]!]! <= 0) shortest = i
        }
        total += least
        length = shortest
        at = to[path[length]! ^ 1]!
        continue
      }
      let e = current[at]!
      while (e !== NONE && (room[e]! <= 0 || level[to[e]!] !== level[at]! + 1)) e = next[e]!
      current[at] = e
      if (e !== NONE) {
        path[length++] = e
        at = to[e]!
      } else if (length === 0) return total
      else {
        // A dead end: back one edge, which leads nowhere.
        length--
        at = to[path[length]! ^ 1]!
        current[at] = next[path[length]!]!
      }
    }
  }
}
