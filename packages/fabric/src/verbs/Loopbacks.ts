import { type Graph, hostsOf, Ports } from "@rdmakit/topology"
import { NANOSECOND } from "@rdmakit/units"

/** From a NIC's transmitter to its receiver. */
const DELAY_PS = 100 * NANOSECOND

/**
 * The ports of a network's kernel: those of the graph, numbered alike, and behind them a cable from each host to itself at
 * the rate of its first link, by which its queue pairs reach each other.
 */
export class Loopbacks {
  readonly ports: Ports
  /** The graph with those cables. */
  readonly graph: Graph
  private readonly portOfNode = new Map<number, number>()

  constructor(graph: Graph) {
    const links = [...graph.links]
    for (const node of hostsOf(graph)) {
      const own = graph.links.find(({ a, b }) => a === node || b === node)
      this.portOfNode.set(node, 2 * links.length)
      links.push({ a: node, b: node, rateBps: own?.rateBps ?? 1e9, delayPs: DELAY_PS, lossRate: 0 })
    }
    this.graph = { ...graph, links }
    this.ports = new Ports(this.graph)
  }

  portOf(node: number): number {
    return this.portOfNode.get(node)!
  }
}
