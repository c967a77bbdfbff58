import { MICROSECOND, parseRate, parseTime, type Rate, type Time } from "@rdmakit/units"
import { sizeError } from "./NetworkSize.ts"
import { TopologyError } from "./TopologyError.ts"

/** A full-duplex cable between two nodes; each direction has the whole rate. */
export interface Link {
  /** The node at one end. */
  readonly a: number
  /** The node at the other end. */
  readonly b: number
  /** Bits per second, above 0. */
  readonly rateBps: Rate
  /** Propagation delay, whole picoseconds. */
  readonly delayPs: Time
  /** Share of packets lost in each direction, 0 to 1. */
  readonly lossRate: number
}

/**
 * A network: nodes numbered from 0, each a host or a switch, and the links between them in the order they were listed.
 * Any shape goes: hosts with several links, parallel links, hosts linked directly, parts that are not connected.
 */
export interface Graph {
  /** How many nodes there are. */
  readonly nodes: number
  /** 1 for a switch, 0 for a host. */
  readonly isSwitch: Uint8Array
  readonly links: ReadonlyArray<Link>
}

/** What a link is like. */
export interface LinkOptions {
  /** Bits per second, or a text such as "100Gbps". Default 100 Gb/s. */
  readonly rate?: Rate | string
  /** Propagation delay in picoseconds, or a text such as "1us". Default 1 µs. */
  readonly delay?: Time | string
  /** Share of packets lost in each direction, 0 to 1. Default 0. */
  readonly loss?: number
}

/**
 * Builds a graph node by node and link by link; the order of the calls is the order of the numbers. What is beyond
 * `NODES_MAX` or `LINKS_MAX` is refused before there is memory for it: a TopologyError "size".
 */
export class GraphBuilder {
  private readonly kinds: Array<number> = []
  private readonly links: Array<Link> = []

  /** Adds a host and returns its number. @throws TopologyError "size" */
  host(): number {
    this.requireRoom(1, 0)
    return this.kinds.push(0) - 1
  }

  /** Adds a switch and returns its number. @throws TopologyError "size" */
  switch(): number {
    this.requireRoom(1, 0)
    return this.kinds.push(1) - 1
  }

  /** Adds `count` hosts, 0 or more, and returns their numbers. @throws TopologyError "shape", "size" */
  hosts(count: number): ReadonlyArray<number> {
    this.requireNodes("hosts", count)
    return Array.from({ length: count }, () => this.host())
  }

  /** Adds `count` switches, 0 or more, and returns their numbers. @throws TopologyError "shape", "size" */
  switches(count: number): ReadonlyArray<number> {
    this.requireNodes("switches", count)
    return Array.from({ length: count }, () => this.switch())
  }

  private requireNodes(name: string, count: number): void {
    requireCount(name, count, 0)
    this.requireRoom(count, 0)
  }

  private requireRoom(nodes: number, links: number): void {
    const error = sizeError(this.kinds.length + nodes, this.links.length + links)
    if (error !== undefined) throw error
  }

  /**
   * Adds a link and returns its number.
   *
   * @throws UnitError when a rate or a delay is a text that cannot be read; TopologyError "size"
   */
  link(a: number, b: number, options: LinkOptions = {}): number {
    this.requireRoom(0, 1)
    const { rate = 100e9, delay = MICROSECOND, loss = 0 } = options
    const rateBps = typeof rate === "string" ? parseRate(rate) : rate
    const delayPs = typeof delay === "string" ? parseTime(delay) : delay
    return this.links.push({ a, b, rateBps, delayPs, lossRate: loss }) - 1
  }

  /**
   * The graph so far; the builder may go on.
   *
   * @throws TopologyError, the first that `validate` finds
   */
  build(): Graph {
    const graph = { nodes: this.kinds.length, isSwitch: Uint8Array.from(this.kinds), links: [...this.links] }
    const [first] = validate(graph)
    if (first !== undefined) throw first
    return graph
  }
}

/** Checks that a count is whole and at least `least`. @throws TopologyError "shape" */
export const requireCount = (name: string, value: number, least = 1): void => {
  if (!(Number.isInteger(value) && value >= least)) {
    throw new TopologyError("shape", `${name} is ${value}; it is a whole number, ${least} or more`)
  }
}

/** Everything that is wrong with a graph, in the order of its links; empty when it can be used. */
export const validate = (graph: Graph): ReadonlyArray<TopologyError> => {
  if (!isGraph(graph)) return [new TopologyError("size", "this is no graph, { nodes, isSwitch, links }")]
  const { nodes, isSwitch, links } = graph
  if (!Number.isSafeInteger(nodes) || nodes < 0 || isSwitch.length !== nodes) {
    return [new TopologyError("size", `${nodes} nodes, but isSwitch describes ${isSwitch.length}`)]
  }
  const tooLarge = sizeError(nodes, links.length)
  if (tooLarge !== undefined) return [tooLarge]
  const known = (node: number): boolean => Number.isInteger(node) && node >= 0 && node < nodes
  const errors: Array<TopologyError> = []
  for (const [index, { a, b, rateBps, delayPs, lossRate }] of links.entries()) {
    const report = (kind: TopologyError["kind"], what: string, node?: number): void => {
      errors.push(new TopologyError(kind, `link ${index} (${a}–${b}): ${what}`, { link: index, node }))
    }
    for (const end of [a, b]) {
      if (!known(end)) report("unknown-node", `node ${end} does not exist; nodes are 0 to ${nodes - 1}`, end)
    }
    if (a === b) report("self-loop", "both ends are the same node", a)
    if (!(Number.isFinite(rateBps) && rateBps > 0)) report("rate", `rate ${rateBps} b/s is not above zero`)
    if (!(Number.isSafeInteger(delayPs) && delayPs >= 0)) report("delay", `delay ${delayPs} is not whole picoseconds`)
    if (!(Number.isFinite(lossRate) && lossRate >= 0 && lossRate <= 1))
      report("loss", `loss rate ${lossRate} is not between 0 and 1`)
  }
  return errors
}

const isGraph = (graph: Partial<Graph> | undefined | null): boolean =>
  Array.isArray(graph?.links) && typeof graph.isSwitch?.length === "number"

/** The hosts of a graph, ascending. */
export const hostsOf = (graph: Graph): Int32Array => {
  const hosts: Array<number> = []
  for (let node = 0; node < graph.nodes; node++) if (graph.isSwitch[node] === 0) hosts.push(node)
  return Int32Array.from(hosts)
}
