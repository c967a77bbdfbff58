import { describe, expect, it } from "vitest"
import {
  bisectionBps,
  dumbbell,
  fatTree,
  type Graph,
  GraphBuilder,
  hpccFabric,
  hpccTestbed,
  leafSpine,
  ring,
  star,
} from "../src/index.ts"

const G = 1e9

describe("bisection", () => {
  it.each<[string, Graph, number]>([
    ["of a star: the links of half its hosts", star(5, { rate: 100 * G }), 200 * G],
    ["of a dumbbell: its bottleneck", dumbbell(4, 4, { bottleneck: { rate: 10 * G } }), 10 * G],
    // 8 hosts to 8 at 100 Gb/s.
    ["of a fat tree: all of its hosts' links", fatTree(4), 800 * G],
    ["of HPCC's fabric: it is not oversubscribed", hpccFabric(), 16_000 * G],
    ["of HPCC's testbed: two racks' links upward", hpccTestbed(), 200 * G],
    // Two leaves with two links of 40 Gb/s each to two spines.
    [
      "of leaves: their links to the spines",
      leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 8, parallel: 2 }, { fabric: { rate: 40 * G } }),
      160 * G,
    ],
    // The middle leaf has a host on either side, at 100 Gb/s; the first leaf gets 50 out, and so does the middle one.
    [
      "through a leaf: what stays in it counts",
      leafSpine({ leaves: 3, spines: 1, hostsPerLeaf: 2 }, { fabric: { rate: 50 * G } }),
      150 * G,
    ],
    // Hosts 0, 1 | 2, 3 on four switches in a circle: two links lead across.
    ["of a ring: both ways round", ring({ switches: 4, hostsPerSwitch: 1 }), 200 * G],
    ["of nothing", star(1), 0],
  ])("%s", (_, graph, expected) => {
    expect(bisectionBps(graph)).toBe(expected)
  })

  it("of hosts that are linked directly; none forwards", () => {
    const builder = new GraphBuilder()
    builder.hosts(4)
    builder.link(0, 1)
    builder.link(1, 2, { rate: 25 * G })
    builder.link(2, 3)
    expect(bisectionBps(builder.build())).toBe(25 * G)
  })

  it("of some hosts", () => {
    // Two in the first rack of a testbed, with 50 Gb/s each; one in each rack; the same with the racks the other way.
    expect(
      [
        [0, 1],
        [0, 1, 2],
        [0, 16],
        [16, 0],
      ].map((hosts) => bisectionBps(hpccTestbed(), hosts)),
    ).toEqual([50 * G, 50 * G, 50 * G, 50 * G])
    // 0 to 1 goes past host 2, which is none of them and forwards nothing.
    const builder = new GraphBuilder()
    builder.hosts(3)
    builder.link(0, 2)
    builder.link(2, 1)
    expect(bisectionBps(builder.build(), [0, 1])).toBe(0)
  })

  it("of parts that are not connected", () => {
    const builder = new GraphBuilder()
    builder.hosts(4)
    builder.link(0, 1)
    builder.link(2, 3)
    expect(bisectionBps(builder.build())).toBe(0)
  })

  it("uses both sides of a diamond", () => {
    const builder = new GraphBuilder()
    builder.hosts(2)
    const [a, b] = builder.switches(2)
    for (const host of [0, 1]) for (const middle of [a!, b!]) builder.link(host, middle)
    builder.link(a!, b!)
    expect(bisectionBps(builder.build())).toBe(200 * G)
  })

  it("of a long chain of switches", () => {
    const builder = new GraphBuilder()
    const [first, second] = builder.hosts(2)
    const chain = builder.switches(50_000)
    builder.link(first!, chain[0]!)
    for (let i = 1; i < chain.length; i++) builder.link(chain[i - 1]!, chain[i]!, { rate: 7 * G })
    builder.link(chain.at(-1)!, second!)
    expect(bisectionBps(builder.build())).toBe(7 * G)
  })
})
