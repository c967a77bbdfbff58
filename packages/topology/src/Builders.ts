/**
 * Networks everyone uses. In all of them hosts have the lowest numbers, switches follow tier by tier, and links are
 * listed tier by tier from the hosts up: node numbers and link order are part of a result, so they are settled here.
 */
import { MICROSECOND } from "@rdmakit/units"
import { type Graph, GraphBuilder, type LinkOptions, requireCount } from "./Graph.ts"
import { TopologyError } from "./TopologyError.ts"

/** What the links of a fabric are like. */
export interface FabricOptions {
  /** Links between hosts and switches. Default 100 Gb/s, 1 µs. */
  readonly host?: LinkOptions
  /** Links between switches. Default: as the hosts' links. */
  readonly fabric?: LinkOptions
}

const requireCounts = (counts: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(counts)) requireCount(name, value)
}

const linksOf = (options: FabricOptions): { readonly host: LinkOptions; readonly fabric: LinkOptions } => ({
  host: options.host ?? {},
  fabric: options.fabric ?? options.host ?? {},
})

/**
 * One switch with `hosts` hosts: hosts 0 … n − 1, switch n.
 *
 * @throws TopologyError "shape"; "size" beyond 65,536 nodes or 524,288 links
 */
export const star = (hosts: number, link: LinkOptions = {}): Graph => {
  requireCount("hosts", hosts)
  const builder = new GraphBuilder()
  const leaves = builder.hosts(hosts)
  const center = builder.switch()
  for (const host of leaves) builder.link(host, center, link)
  return builder.build()
}

/** What the links of a dumbbell are like. */
export interface DumbbellOptions {
  /** Links between hosts and switches. Default 100 Gb/s, 1 µs. */
  readonly host?: LinkOptions
  /** The link between the two switches. Default: as the hosts' links. */
  readonly bottleneck?: LinkOptions
}

/**
 * Two switches joined by one link: hosts 0 … left − 1 at the first, the others at the second; the bottleneck is the
 * last link.
 *
 * @throws TopologyError "shape"; "size" beyond 65,536 nodes or 524,288 links
 */
export const dumbbell = (left: number, right: number, options: DumbbellOptions = {}): Graph => {
  requireCounts({ left, right })
  const { host = {}, bottleneck = host } = options
  const builder = new GraphBuilder()
  const hosts = builder.hosts(left + right)
  const [first, second] = [builder.switch(), builder.switch()]
  for (const each of hosts) builder.link(each, each < left ? first : second, host)
  builder.link(first, second, bottleneck)
  return builder.build()
}

/** The counts of a two-tier fabric. */
export interface LeafSpineShape {
  readonly leaves: number
  readonly spines: number
  readonly hostsPerLeaf: number
  /** Parallel links between each leaf and each spine. Default 1. */
  readonly parallel?: number
}

/**
 * Two tiers: every leaf is linked to every spine.
 *
 * @throws TopologyError "shape"; "size" beyond 65,536 nodes or 524,288 links
 */
export const leafSpine = (shape: LeafSpineShape, options: FabricOptions = {}): Graph => {
  const { leaves, spines, hostsPerLeaf, parallel = 1 } = shape
  requireCounts({ leaves, spines, hostsPerLeaf, parallel })
  const { host, fabric } = linksOf(options)
  const builder = new GraphBuilder()
  const hosts = builder.hosts(leaves * hostsPerLeaf)
  const lower = builder.switches(leaves)
  const upper = builder.switches(spines)
  for (const each of hosts) builder.link(each, lower[Math.floor(each / hostsPerLeaf)]!, host)
  for (const leaf of lower) {
    for (const spine of upper) for (let n = 0; n < parallel; n++) builder.link(leaf, spine, fabric)
  }
  return builder.build()
}

/** The counts of a three-tier fabric. */
export interface ClosShape {
  readonly pods: number
  readonly torsPerPod: number
  readonly aggsPerPod: number
  /** Core switches that each aggregation switch is linked to; aggsPerPod times as many exist. */
  readonly coresPerAgg: number
  readonly hostsPerTor: number
}

/**
 * Three tiers, a folded Clos network: in a pod every top-of-rack switch is linked to every aggregation switch; the
 * k-th aggregation switch of each pod to cores k·coresPerAgg … (k + 1)·coresPerAgg − 1.
 *
 * @throws TopologyError "shape"; "size" beyond 65,536 nodes or 524,288 links
 */
export const clos = (shape: ClosShape, options: FabricOptions = {}): Graph => {
  requireCounts({ ...shape })
  const { pods, torsPerPod, aggsPerPod, coresPerAgg, hostsPerTor } = shape
  const { host, fabric } = linksOf(options)
  const builder = new GraphBuilder()
  const hosts = builder.hosts(pods * torsPerPod * hostsPerTor)
  const tors = builder.switches(pods * torsPerPod)
  const aggs = builder.switches(pods * aggsPerPod)
  const cores = builder.switches(aggsPerPod * coresPerAgg)
  for (const each of hosts) builder.link(each, tors[Math.floor(each / hostsPerTor)]!, host)
  for (const [index, tor] of tors.entries()) {
    const pod = Math.floor(index / torsPerPod)
    for (const agg of aggs.slice(pod * aggsPerPod, (pod + 1) * aggsPerPod)) builder.link(tor, agg, fabric)
  }
  for (const [index, agg] of aggs.entries()) {
    const k = index % aggsPerPod
    for (const core of cores.slice(k * coresPerAgg, (k + 1) * coresPerAgg)) builder.link(agg, core, fabric)
  }
  return builder.build()
}

/**
 * The k-ary fat tree of Al-Fares, Loukissas and Vahdat (2008, §3): k pods of k/2 + k/2 switches, (k/2)² cores,
 * k³/4 hosts.
 *
 * @param k even, 2 or more
 * @throws TopologyError "shape"; "size" beyond 65,536 nodes or 524,288 links
 */
export const fatTree = (k: number, options: FabricOptions = {}): Graph => {
  requireCount("k", k, 2)
  if (k % 2 !== 0) throw new TopologyError("shape", `k is ${k}; a fat tree has an even number of ports per switch`)
  const half = k / 2
  return clos({ pods: k, torsPerPod: half, aggsPerPod: half, coresPerAgg: half, hostsPerTor: half }, options)
}

/**
 * The fabric of HPCC's simulations (Li et al. 2019, §5.1) as its public code lists it: 320 hosts (0–319) at 100 Gb/s,
 * 20 top-of-rack (320–339), 20 aggregation (340–359) and 16 core switches (360–375) in 5 pods at 400 Gb/s, 1 µs a link.
 */
export const hpccFabric = (options: FabricOptions = {}): Graph =>
  clos(
    { pods: 5, torsPerPod: 4, aggsPerPod: 4, coresPerAgg: 4, hostsPerTor: 16 },
    { host: { rate: 100e9, ...options.host }, fabric: { rate: 400e9, ...options.fabric } },
  )

const TESTBED_HOSTS = 32
const TESTBED_TORS = 4

/**
 * HPCC's testbed (Li et al. 2019, §5.1): 32 hosts (0–31) with two 25 Gb/s links each, 0–15 to the top-of-rack switches
 * 32 and 33, 16–31 to 34 and 35, and one aggregation switch (36) with a 100 Gb/s link to each of the four. The second
 * link of a host follows its first, as in the public simulator's file of dual-homed hosts.
 *
 * The paper gives round trips and no delays of single links: 5.4 µs within a rack, 8.5 µs between racks. The defaults,
 * 1.16 µs at the hosts and 0.73 µs above, make them 5.394 and 8.502 µs for a packet of 1,090 B on the wire and an
 * acknowledgement of 88 B, on an idle network.
 */
export const hpccTestbed = (options: FabricOptions = {}): Graph => {
  const builder = new GraphBuilder()
  const hosts = builder.hosts(TESTBED_HOSTS)
  const tors = builder.switches(TESTBED_TORS)
  const agg = builder.switch()
  for (const host of hosts) {
    const rack = host < TESTBED_HOSTS / 2 ? 0 : 2
    for (const tor of tors.slice(rack, rack + 2)) {
      builder.link(host, tor, { rate: 25e9, delay: 1.16 * MICROSECOND, ...options.host })
    }
  }
  for (const tor of tors) builder.link(tor, agg, { rate: 100e9, delay: 0.73 * MICROSECOND, ...options.fabric })
  return builder.build()
}

/** The counts of a ring. */
export interface RingShape {
  /** Three or more. */
  readonly switches: number
  readonly hostsPerSwitch: number
}

/**
 * Switches in a circle, each with its hosts: the smallest network whose buffers can wait for each other in a cycle.
 * The link from switch i to the next is listed i-th after the hosts' links.
 *
 * @throws TopologyError "shape"; "size" beyond 65,536 nodes or 524,288 links
 */
export const ring = (shape: RingShape, options: FabricOptions = {}): Graph => {
  requireCount("switches", shape.switches, 3)
  requireCount("hostsPerSwitch", shape.hostsPerSwitch)
  const { host, fabric } = linksOf(options)
  const builder = new GraphBuilder()
  const hosts = builder.hosts(shape.switches * shape.hostsPerSwitch)
  const circle = builder.switches(shape.switches)
  for (const each of hosts) builder.link(each, circle[Math.floor(each / shape.hostsPerSwitch)]!, host)
  for (const [index, each] of circle.entries()) builder.link(each, circle[(index + 1) % circle.length]!, fabric)
  return builder.build()
}
