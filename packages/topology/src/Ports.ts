import type { Graph } from "./Graph.ts"

/**
 * The directed ports of a graph. Link i makes two: port 2i sits at its end a and sends towards b, port 2i + 1 sits at
 * b and sends towards a. A port is an egress; what it sends arrives at its peer.
 */
export class Ports {
  /** Two for each link. */
  readonly count: number
  /** The node a port sits at. */
  readonly node: Int32Array
  /** Bits per second. */
  readonly rateBps: Float64Array
  /** Propagation delay to the peer, picoseconds. */
  readonly delayPs: Float64Array
  /** Share of the packets sent here that are lost on the way, 0 to 1. */
  readonly lossRate: Float64Array
  /** The interface number of a port on its node: 1 + the order of appearance of its link there, as in ns-3, where 0 is the loopback. */
  readonly iface: Int32Array
  private readonly first: Int32Array
  private readonly byNode: Int32Array

  constructor(graph: Graph) {
    const count = graph.links.length * 2
    this.count = count
    this.node = new Int32Array(count)
    this.rateBps = new Float64Array(count)
    this.delayPs = new Float64Array(count)
    this.lossRate = new Float64Array(count)
    this.iface = new Int32Array(count)
    this.first = new Int32Array(graph.nodes + 1)
    this.byNode = new Int32Array(count)
    for (const [index, link] of graph.links.entries()) {
      this.node[2 * index] = link.a
      this.node[2 * index + 1] = link.b
      for (const port of [2 * index, 2 * index + 1]) {
        this.rateBps[port] = link.rateBps
        this.delayPs[port] = link.delayPs
        this.lossRate[port] = link.lossRate
        this.iface[port] = ++this.first[this.node[port]! + 1]!
      }
    }
    for (let node = 0; node < graph.nodes; node++) this.first[node + 1]! += this.first[node]!
    for (let port = 0; port < count; port++) {
      this.byNode[this.first[this.node[port]!]! + this.iface[port]! - 1] = port
    }
  }

  /** The port at the other end of the link. */
  peer(port: number): number {
    return port ^ 1
  }

  /** The node at the other end of the link. */
  peerNode(port: number): number {
    return this.node[port ^ 1]!
  }

  /** The link a port belongs to. */
  link(port: number): number {
    return port >> 1
  }

  /** The ports of a node in the order of appearance of their links; a view, not a copy. Interface i is entry i − 1. */
  portsOf(node: number): Int32Array {
    return this.byNode.subarray(this.first[node], this.first[node + 1])
  }
}
