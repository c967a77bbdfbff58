import { type Graph, hostsOf, LINKS_MAX, Ports, TopologyError } from "@rdmakit/topology"
import { NANOSECOND } from "@rdmakit/units"
import type { WorldParts } from "../WorldParts.ts"

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

  /** @param own those of the graph @throws TopologyError "size" where packets cannot name so many links */
  constructor(graph: Graph, own: Ports) {
    const hosts = hostsOf(graph)
    const links = [...graph.links]
    if (links.length + hosts.length > LINKS_MAX) {
      const found = `${links.length} links, and one of each of ${hosts.length} hosts to itself`
      throw new TopologyError("size", `${found}: packets can name ${LINKS_MAX}, so simulate a smaller network`)
    }
    for (const node of hosts) {
      const [first] = own.portsOf(node)
      this.portOfNode.set(node, 2 * links.length)
      links.push({
        a: node,
        b: node,
        rateBps: first === undefined ? 1e9 : own.rateBps[first]!,
        delayPs: DELAY_PS,
        lossRate: 0,
      })
    }
    this.graph = { ...graph, links }
    this.ports = new Ports(this.graph)
  }

  /** How the graph's own ports choose, and by equal weights those of the cables. */
  disciplineOf(discipline: WorldParts["discipline"]): WorldParts["discipline"] {
    if (typeof discipline === "string") return discipline
    const { weights } = discipline
    return { weights: Array.from({ length: 8 * this.ports.count }, (_, at) => weights[at] ?? 1) }
  }

  portOf(node: number): number {
    return this.portOfNode.get(node)!
  }
}
