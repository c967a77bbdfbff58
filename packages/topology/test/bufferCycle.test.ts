import { describe, expect, it } from "vitest"
import {
  bufferCycle,
  clos,
  cycleText,
  fatTree,
  type Graph,
  GraphBuilder,
  hostsOf,
  hpccTestbed,
  leafSpine,
  Ports,
  Routes,
  ring,
  type SendingPair,
} from "../src/index.ts"

const allPairs = (graph: Graph): Array<SendingPair> =>
  [...hostsOf(graph)].flatMap((source) =>
    [...hostsOf(graph)].filter((host) => host !== source).map((destination) => ({ source, destination })),
  )

const cycleOf = (graph: Graph, pairs: Iterable<SendingPair> = allPairs(graph)) => {
  const ports = new Ports(graph)
  const cycle = bufferCycle(graph, ports, new Routes(graph, ports), pairs)
  return cycle === undefined ? undefined : { cycle, text: cycleText(cycle, ports) }
}

describe("routes that go up and then down", () => {
  it.each([
    ["a fat tree", fatTree(4)],
    ["a leaf-spine network with parallel links", leafSpine({ leaves: 3, spines: 2, hostsPerLeaf: 2, parallel: 2 })],
    ["three tiers", clos({ pods: 2, torsPerPod: 2, aggsPerPod: 2, coresPerAgg: 2, hostsPerTor: 2 })],
    ["hosts with two links", hpccTestbed()],
  ])("have no cycle in %s, whoever sends to whom", (_name, graph) => {
    expect(cycleOf(graph)).toBeUndefined()
  })
})

describe("a ring of switches", () => {
  // Hosts 0 to 4, switches 5 to 9; link 5 + i joins switch 5 + i and the next: port 10 + 2i goes on, 11 + 2i back.
  const five = ring({ switches: 5, hostsPerSwitch: 1 })

  it("of five, every host to the next but one: all five links wait for each other", () => {
    const pairs = [0, 1, 2, 3, 4].map((source) => ({ source, destination: (source + 2) % 5 }))
    // Port 1 of a switch is its host's. Of switch 5 the link to 6 is listed before that to 9, of the others the one back.
    expect(cycleOf(five, pairs)).toEqual({
      cycle: [10, 12, 14, 16, 18],
      text: "node 5 (port 2) -> node 6 (port 3) -> node 7 (port 3) -> node 8 (port 3) -> node 9 (port 3) -> node 5",
    })
  })

  it("the same with one pair less: the chain ends", () => {
    const pairs = [0, 1, 2, 3].map((source) => ({ source, destination: (source + 2) % 5 }))
    expect(cycleOf(five, pairs)).toBeUndefined()
  })

  it("neighbours alone use one link each", () => {
    const pairs = [0, 1, 2, 3, 4].map((source) => ({ source, destination: (source + 1) % 5 }))
    expect(cycleOf(five, pairs)).toBeUndefined()
  })

  it("of three, no shortest path has two links", () => {
    expect(cycleOf(ring({ switches: 3, hostsPerSwitch: 2 }))).toBeUndefined()
  })

  it("of four, opposite hosts go either way round", () => {
    const four = ring({ switches: 4, hostsPerSwitch: 1 })
    expect(cycleOf(four)?.cycle).toEqual([8, 10, 12, 14])
    // Two pairs use two links each way, both ways: 0 to 2 by 1 and by 3, 1 to 3 by 2 and by 0.
    expect(cycleOf(four, [{ source: 0, destination: 2 }])).toBeUndefined()
    const round = [0, 1, 2, 3].map((source) => ({ source, destination: (source + 2) % 4 }))
    expect(cycleOf(four, round)?.cycle).toHaveLength(4)
  })
})

it("a triangle with switches in the middle of its sides has none, one side cut or not", () => {
  const builder = new GraphBuilder()
  const hosts = builder.hosts(3)
  const [a, b, c] = builder.switches(3)
  const edges = [a!, b!, c!]
  hosts.forEach((host, i) => void builder.link(host, edges[i]!))
  const [p, q, r] = builder.switches(3)
  // Each middle switch joins two edges: a triangle with corners in between, every path of two links.
  builder.link(a!, p!)
  builder.link(p!, b!)
  builder.link(b!, q!)
  builder.link(q!, c!)
  builder.link(c!, r!)
  builder.link(r!, a!)
  const graph = builder.build()
  // A to b by p, and so on: nothing goes further than one corner.
  expect(cycleOf(graph)).toBeUndefined()
  const ports = new Ports(graph)
  const routes = new Routes(graph, ports)
  // Without c - r, a reaches c by b, and c a, but nothing goes on from there.
  routes.setLink(7, false)
  expect(bufferCycle(graph, ports, routes, allPairs(graph))).toBeUndefined()
})

it("pairs without a way, and direct links, are passed over", () => {
  const builder = new GraphBuilder()
  const [a, b] = builder.hosts(3)
  builder.link(a!, b!)
  expect(cycleOf(builder.build())).toBeUndefined()
})
