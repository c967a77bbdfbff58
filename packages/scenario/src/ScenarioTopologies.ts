/** Networks that a scenario can name, each with its options. */
import {
  clos,
  dumbbell,
  fatTree,
  type Graph,
  GraphBuilder,
  hpccFabric,
  hpccTestbed,
  LINKS_MAX,
  type LinkOptions,
  leafSpine,
  ring,
  star,
  TopologyError,
} from "@rdmakit/topology"
import { Schema } from "effect"
import { pairCount, pairsOf, unpaired } from "./NodePairs.ts"
import type { FieldSource } from "./ScenarioDocument.ts"
import { FileName, field, NODE_MAX, Nodes, NodesOrNone, Rate, Share, Time, Wrong, whole } from "./ScenarioFields.ts"
import { writtenEven } from "./WrittenFields.ts"

const Count = whole(1, NODE_MAX)
const linkFields = {
  /** Default 100 Gb/s. */
  rate: Schema.optionalKey(Rate),
  /** Default 1 µs. */
  delay: Schema.optionalKey(Time),
  /** Share of packets lost in each direction, by chance. Default 0. */
  loss: Schema.optionalKey(Share),
}
const Link = Schema.optionalKey(Schema.Struct(linkFields))
const Name = { builder: Schema.Unknown }

/** How large a network gets, reckoned before it is built. */
interface Extent {
  readonly nodes: number
  readonly links: number
}

export interface TopologyChoice<A = unknown> {
  readonly schema: Schema.Codec<A, unknown>
  readonly extent: (options: A) => Extent
  readonly build: (options: A) => Graph
}

const choice = <A>(value: TopologyChoice<A>): TopologyChoice => value as TopologyChoice

const fabricOf = ({ link, fabric }: { link?: LinkOptions; fabric?: LinkOptions }) => ({
  ...(link === undefined ? {} : { host: link }),
  ...(fabric === undefined ? {} : { fabric }),
})

/** `topology: {builder: NAME, …}`. */
export const builders: Readonly<Record<string, TopologyChoice>> = {
  star: choice({
    schema: Schema.Struct({ ...Name, hosts: Count, link: Link }),
    extent: ({ hosts }) => ({ nodes: hosts + 1, links: hosts }),
    build: ({ hosts, link }) => star(hosts, link),
  }),
  dumbbell: choice({
    schema: Schema.Struct({ ...Name, left: Count, right: Count, link: Link, bottleneck: Link }),
    extent: ({ left, right }) => ({ nodes: left + right + 2, links: left + right + 1 }),
    build: ({ left, right, link, bottleneck }) =>
      dumbbell(left, right, {
        ...(link === undefined ? {} : { host: link }),
        ...(bottleneck === undefined ? {} : { bottleneck }),
      }),
  }),
  "fat-tree": choice({
    schema: Schema.Struct({
      ...Name,
      k: field(
        "an even number 2..128",
        (k) =>
          typeof k === "number" && k % 2 === 0 && k >= 2 && k <= 128 ? k : new Wrong("a switch has as many ports"),
        writtenEven(2, 128),
      ),
      link: Link,
      fabric: Link,
    }),
    extent: ({ k }) => ({ nodes: k ** 3 / 4 + (5 * k * k) / 4, links: (3 * k ** 3) / 4 }),
    build: ({ k, ...options }) => fatTree(k, fabricOf(options)),
  }),
  "leaf-spine": choice({
    schema: Schema.Struct({
      ...Name,
      leaves: Count,
      spines: Count,
      hostsPerLeaf: Count,
      parallel: Schema.optionalKey(whole(1, 64)),
      link: Link,
      fabric: Link,
    }),
    extent: ({ leaves, spines, hostsPerLeaf, parallel = 1 }) => ({
      nodes: leaves * (hostsPerLeaf + 1) + spines,
      links: leaves * (hostsPerLeaf + spines * parallel),
    }),
    build: ({ link, fabric: between, builder: _, ...shape }) =>
      leafSpine(
        shape,
        fabricOf({ ...(link === undefined ? {} : { link }), ...(between === undefined ? {} : { fabric: between }) }),
      ),
  }),
  clos: choice({
    schema: Schema.Struct({
      ...Name,
      pods: Count,
      torsPerPod: Count,
      aggsPerPod: Count,
      coresPerAgg: Count,
      hostsPerTor: Count,
      link: Link,
      fabric: Link,
    }),
    extent: ({ pods, torsPerPod, aggsPerPod, coresPerAgg, hostsPerTor }) => ({
      nodes: pods * (torsPerPod * (hostsPerTor + 1) + aggsPerPod) + aggsPerPod * coresPerAgg,
      links: pods * (torsPerPod * (hostsPerTor + aggsPerPod) + aggsPerPod * coresPerAgg),
    }),
    build: ({ pods, torsPerPod, aggsPerPod, coresPerAgg, hostsPerTor, ...options }) =>
      clos({ pods, torsPerPod, aggsPerPod, coresPerAgg, hostsPerTor }, fabricOf(options)),
  }),
  "hpcc-fabric": choice({
    schema: Schema.Struct({ ...Name, link: Link, fabric: Link }),
    extent: () => ({ nodes: 376, links: 480 }),
    build: (options) => hpccFabric(fabricOf(options)),
  }),
  "hpcc-testbed": choice({
    schema: Schema.Struct({ ...Name, link: Link, fabric: Link }),
    extent: () => ({ nodes: 37, links: 68 }),
    build: (options) => hpccTestbed(fabricOf(options)),
  }),
  ring: choice({
    schema: Schema.Struct({ ...Name, switches: whole(3, NODE_MAX), hostsPerSwitch: Count, link: Link, fabric: Link }),
    extent: ({ switches, hostsPerSwitch }) => ({
      nodes: switches * (hostsPerSwitch + 1),
      links: switches * (hostsPerSwitch + 1),
    }),
    build: ({ switches, hostsPerSwitch, ...options }) => ring({ switches, hostsPerSwitch }, fabricOf(options)),
  }),
}

/** `topology: {nodes, switches, links}`. */
export const ExplicitTopology = Schema.Struct({
  nodes: whole(1, NODE_MAX + 1),
  /** Default: none, every node is a host. */
  switches: Schema.optionalKey(NodesOrNone),
  /** As of flows: of two ranges of the same length each link takes one, a single node joins all of the other's. */
  links: Schema.Array(Schema.Struct({ from: Nodes, to: Nodes, ...linkFields })),
})
export type ExplicitTopology = typeof ExplicitTopology.Type

/** `topology: {file}`: a topology file of the HPCC simulator. */
export const TopologyFile = Schema.Struct({ file: FileName })

/** @throws TopologyError: the first link that is wrong; its `link` is an index of the list, not of the graph's links */
const explicitGraph = ({ nodes, switches = [], links }: ExplicitTopology): Graph => {
  const builder = new GraphBuilder()
  const isSwitch = new Set(switches)
  for (let node = 0; node < nodes; node++) {
    if (isSwitch.has(node)) builder.switch()
    else builder.host()
  }
  const entries: Array<number> = []
  for (const [index, { from, to, ...options }] of links.entries()) {
    for (const [a, b] of pairsOf(from, to)) entries[builder.link(a, b, options)] = index
  }
  try {
    return builder.build()
  } catch (error) {
    if (!(error instanceof TopologyError) || error.link === undefined) throw error
    throw new TopologyError(error.kind, error.message, { link: entries[error.link], node: error.node })
  }
}

/** The network of a list of links. @throws Ns3FormatError; TopologyError as `explicitGraph` */
export const listedGraph = (topology: ExplicitTopology, document: FieldSource): Graph => {
  const { nodes, switches = [], links } = topology
  const stray = switches.find((node) => node >= nodes)
  if (stray !== undefined) {
    const hint = `node ${stray} does not exist`
    throw document.fault(["topology", "switches"], { expected: `nodes 0..${nodes - 1}`, hint })
  }
  let count = 0
  for (const [index, { from, to }] of links.entries()) {
    const apart = unpaired(from, to, "node")
    if (apart !== undefined) throw document.fault(["topology", "links", index, "to"], apart)
    count += pairCount(from, to)
  }
  if (count > LINKS_MAX) {
    const fault = { found: "", expected: `at most ${LINKS_MAX} links`, hint: `this is ${count} links` }
    throw document.fault(["topology", "links"], fault)
  }
  return explicitGraph(topology)
}
