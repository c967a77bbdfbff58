import type { Graph, Ports } from "@rdmakit/topology"

/** A text that names no port. */
export class PortNameFault extends Error {
  readonly _tag = "PortNameFault"
  readonly found: string
  readonly expected: string
  /** What there is in its place. */
  readonly hint: string | undefined
  constructor(found: string, expected: string, hint?: string) {
    super(`found "${found}", expected ${expected}`)
    this.name = "PortNameFault"
    this.found = found
    this.expected = expected
    this.hint = hint
  }
}

/** `16:2`: node 16's port 2, counted from 1 in the order of its links, as tables of queues and lists of pauses have it. */
export const portName = (port: number, ports: Ports): string => `${ports.node[port]}:${ports.iface[port]}`

/** `switch 16`, `host 1`. */
export const nodeWords = (node: number, graph: Graph): string =>
  `${graph.isSwitch[node] === 1 ? "switch" : "host"} ${node}`

/** `switch 16, port 2, to host 1`. */
export const portWords = (port: number, ports: Ports, graph: Graph): string => {
  const [node, peer] = [ports.node[port]!, ports.peerNode(port)]
  return `${nodeWords(node, graph)}, port ${ports.iface[port]}, to ${nodeWords(peer, graph)}`
}

const FORMS = "NODE:PORT (16:2), NODE-NEIGHBOUR (16-1), or the NODE alone where it has one port"
const LISTED_MAX = 8

/** The ports of a node in words, the first few. */
const portsText = (node: number, ports: Ports, graph: Graph): string => {
  const all = [...ports.portsOf(node)]
  const words = all.slice(0, LISTED_MAX).map((port) => {
    const peer = ports.peerNode(port)
    return `${portName(port, ports)} to ${nodeWords(peer, graph)}`
  })
  const more = all.length > LISTED_MAX ? `, … ${portName(all.at(-1)!, ports)}` : ""
  return `${nodeWords(node, graph)} has ${words.join(", ")}${more}`
}

/** The port that a text names: `16:2`, node 16's second; `16-1`, its port to node 1; `1`, the only port of node 1. */
export const portNamed = (text: string, ports: Ports, graph: Graph): number | PortNameFault => {
  const match = /^(\d+)(?:([:-])(\d+))?$/.exec(text)
  if (match === null) return new PortNameFault(text, FORMS)
  const [node, separator, second] = [Number(match[1]), match[2], Number(match[3])]
  if (node >= graph.nodes) return new PortNameFault(text, `a node 0..${graph.nodes - 1}`)
  const own = [...ports.portsOf(node)]
  const hint = portsText(node, ports, graph)
  const words = `${nodeWords(node, graph)}`
  if (separator === undefined) {
    return own.length === 1 ? own[0]! : new PortNameFault(text, `NODE:PORT: ${words} has ${own.length} ports`, hint)
  }
  if (separator === ":") {
    return (
      own[second - 1] ??
      new PortNameFault(text, `${own.length === 1 ? "port 1" : `a port 1..${own.length}`} of ${words}`, hint)
    )
  }
  const [first, other] = own.filter((port) => ports.peerNode(port) === second)
  if (first === undefined) return new PortNameFault(text, `a neighbour of ${words}`, hint)
  if (other === undefined) return first
  return new PortNameFault(text, `NODE:PORT: several links join ${node} and ${second}`, hint)
}
