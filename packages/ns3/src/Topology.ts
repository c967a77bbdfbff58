import type { Ns3Note } from "./FormatError.ts"
import { ns3TimeNs, rateOf, timeOf } from "./Quantity.ts"
import { Tokens } from "./Tokens.ts"

/** Node ids are the middle 16 bits of an address. */
export const NODES_MAX = 65536
const SWITCH_PORTS_MAX = 256

/** A full-duplex link. Interface k of a node is its k-th link in the file, from 1. */
export interface Ns3Link {
  readonly a: number
  readonly b: number
  /** Bits/s, at least 1. */
  readonly rateBps: number
  /** Picoseconds, exactly as written. */
  readonly delayPs: number
  /** Whole nanoseconds as the original keeps them, where it does not keep those of `delayPs`: 299 for "0.3us". */
  readonly delayNs?: number
  /** Packet loss rate 0..1; 0: the config's ERROR_RATE_PER_LINK holds. */
  readonly lossRate: number
  /** Where it stands in the file; 0 for one made in code. */
  readonly line: number
}

export interface Ns3Topology {
  /** Number of nodes: their ids are 0..nodes - 1. */
  readonly nodes: number
  /** Ids of the switches in file order; every other node is a host. */
  readonly switches: ReadonlyArray<number>
  readonly links: ReadonlyArray<Ns3Link>
  readonly notes: ReadonlyArray<Ns3Note>
}

/**
 * Reads a topology file: `nodes switches links`, the switches' ids, then `a b rate delay loss` for each link.
 *
 * Throws {@link Ns3FormatError} for unknown nodes, a switch named twice, a link from a node to itself, a rate of zero,
 * unknown units, a loss rate outside 0..1, fewer links than announced and more than 65,536 nodes. Words after the last
 * link and a second link between two nodes are noted.
 */
export const parseTopology = (text: string | Uint8Array, file: string): Ns3Topology => {
  const tokens = new Tokens(text, file)
  const whole = (field: string, min: number, max: number, hint?: string): number => {
    tokens.need(field, `a whole number ${min}..${max}`)
    return tokens.wholeNumber(field, min, max, hint)
  }
  const nodes = whole("number of nodes", 1, NODES_MAX)
  const switchCount = whole("number of switches", 0, nodes)
  const linkCount = whole("number of links", 0, 2 ** 31 - 1)
  const isSwitch = new Uint8Array(nodes)
  const switches: Array<number> = []
  for (let i = 0; i < switchCount; i++) {
    const id = whole("switch", 0, nodes - 1, `the file says it has ${nodes} nodes`)
    if (isSwitch[id] === 1) throw tokens.fault("switch", "a switch that is not yet named")
    isSwitch[id] = 1
    switches.push(id)
  }
  const links: Array<Ns3Link> = []
  const ports = new Uint32Array(nodes)
  const pairs = new Map<number, number>()
  for (let i = 0; i < linkCount; i++) {
    if (!tokens.next()) throw tokens.fault("link", `${linkCount} links`, `the file ends after ${i}`)
    const link = readLink(tokens, nodes)
    noteTwin(tokens, pairs, link)
    for (const end of [link.a, link.b]) {
      if (++ports[end]! > SWITCH_PORTS_MAX && isSwitch[end] === 1) {
        throw tokens.fault("link", `at most ${SWITCH_PORTS_MAX} links at switch ${end}`)
      }
    }
    links.push(link)
  }
  if (tokens.next()) tokens.note(`words after the last of ${linkCount} links: not read`)
  return { nodes, switches, links, notes: tokens.notes }
}

/** Writes a topology file. Rates are in bps or the largest unit that is exact, delays in ns or ps, likewise. */
export const formatTopology = (topology: Pick<Ns3Topology, "nodes" | "switches" | "links">): string => {
  const lines = [
    `${topology.nodes} ${topology.switches.length} ${topology.links.length}`,
    topology.switches.join(" "),
    ...topology.links.map(
      ({ a, b, rateBps, delayPs, lossRate }) =>
        `${a} ${b} ${formatRate(rateBps)} ${formatDelay(delayPs)} ${formatLoss(lossRate)}`,
    ),
  ]
  return `${lines.join("\n")}\n`
}

/** For each node, whether it is a switch. */
export const switchFlags = (topology: Pick<Ns3Topology, "nodes" | "switches">): Uint8Array => {
  const flags = new Uint8Array(topology.nodes)
  for (const id of topology.switches) flags[id] = 1
  return flags
}

// The first word of the link is current.
const readLink = (tokens: Tokens, nodes: number): Ns3Link => {
  const line = tokens.line
  const hint = `the file says it has ${nodes} nodes`
  const a = tokens.wholeNumber("source node", 0, nodes - 1, hint)
  tokens.need("destination node", "a node")
  const b = tokens.wholeNumber("destination node", 0, nodes - 1, hint)
  if (a === b) throw tokens.fault("destination node", `a node other than ${a}`, "a link joins two nodes")
  tokens.need("rate", "the rate of the link")
  const rateBps = rateOf(tokens, "rate")
  if (rateBps === 0) throw tokens.fault("rate", "a rate above zero")
  tokens.need("delay", "the delay of the link")
  const delayPs = timeOf(tokens, "delay")
  const delayNs = ns3TimeNs(tokens.text(), delayPs)
  tokens.need("loss rate", "the loss rate of the link")
  const lossRate = tokens.decimal("loss rate", 0, 1)
  return { a, b, rateBps, delayPs, ...(delayNs === Math.floor(delayPs / 1000) ? {} : { delayNs }), lossRate, line }
}

/** The delay of a link as the original keeps it, whole nanoseconds. */
export const linkDelayNs = ({ delayPs, delayNs }: Pick<Ns3Link, "delayPs" | "delayNs">): number =>
  delayNs ?? Math.floor(delayPs / 1000)

const noteTwin = (tokens: Tokens, pairs: Map<number, number>, link: Ns3Link): void => {
  const pair = Math.min(link.a, link.b) * NODES_MAX + Math.max(link.a, link.b)
  const line = pairs.get(pair)
  if (line === undefined) pairs.set(pair, link.line)
  else tokens.note(`a second link between ${link.a} and ${link.b}: the original routes over it alone, not line ${line}`)
}

const RATE_UNITS = [
  [1e9, "Gbps"],
  [1e6, "Mbps"],
  [1e3, "Kbps"],
] as const

const formatRate = (rateBps: number): string => {
  for (const [factor, unit] of RATE_UNITS) if (rateBps % factor === 0) return `${rateBps / factor}${unit}`
  return `${rateBps}bps`
}

const formatDelay = (delayPs: number): string => (delayPs % 1000 === 0 ? `${delayPs / 1000}ns` : `${delayPs}ps`)

const formatLoss = (lossRate: number): string => {
  const fixed = lossRate.toFixed(6)
  return Number(fixed) === lossRate ? fixed : String(lossRate)
}
