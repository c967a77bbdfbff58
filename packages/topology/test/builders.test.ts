import { existsSync, readFileSync } from "node:fs"
import { parseRate, parseTime } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import {
  clos,
  dumbbell,
  fatTree,
  type Graph,
  hostsOf,
  hpccFabric,
  leafSpine,
  Ports,
  Routes,
  ring,
  star,
  TopologyError,
} from "../src/index.ts"

const pairs = (graph: Graph): ReadonlyArray<string> => graph.links.map(({ a, b }) => `${a}-${b}`)
const degrees = (graph: Graph): ReadonlyArray<number> => {
  const ports = new Ports(graph)
  return Array.from({ length: graph.nodes }, (_, node) => ports.portsOf(node).length)
}
const hops = (graph: Graph): number => new Routes(graph, new Ports(graph)).maxHops

describe("small networks", () => {
  it("star", () => {
    const graph = star(3, { rate: "25Gbps" })
    expect(pairs(graph)).toEqual(["0-3", "1-3", "2-3"])
    expect([...graph.isSwitch]).toEqual([0, 0, 0, 1])
    expect(graph.links.every((link) => link.rateBps === 25e9 && link.delayPs === 1e6)).toBe(true)
  })

  it("dumbbell", () => {
    const graph = dumbbell(2, 1, { host: { rate: 100e9 }, bottleneck: { rate: 10e9, delay: "5us" } })
    expect(pairs(graph)).toEqual(["0-3", "1-3", "2-4", "3-4"])
    expect(graph.links.map((link) => link.rateBps)).toEqual([100e9, 100e9, 100e9, 10e9])
    expect(graph.links[3]!.delayPs).toBe(5e6)
    expect(dumbbell(1, 1, { host: { rate: 7e9 } }).links.map((link) => link.rateBps)).toEqual([7e9, 7e9, 7e9])
  })

  it("leafSpine, with parallel links", () => {
    const graph = leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 2, parallel: 2 }, { fabric: { rate: 4e11 } })
    expect(pairs(graph).slice(0, 4)).toEqual(["0-4", "1-4", "2-5", "3-5"])
    expect(pairs(graph).slice(4)).toEqual(["4-6", "4-6", "4-7", "4-7", "5-6", "5-6", "5-7", "5-7"])
    expect(new Routes(graph, new Ports(graph)).nextHops(4, 3).length).toBe(4)
  })

  it("ring", () => {
    const graph = ring({ switches: 4, hostsPerSwitch: 1 })
    expect(pairs(graph)).toEqual(["0-4", "1-5", "2-6", "3-7", "4-5", "5-6", "6-7", "7-4"])
    expect(hops(graph)).toBe(3)
  })
})

describe("fat trees", () => {
  it("fatTree(k) has k³/4 hosts and 5k²/4 switches of k ports", () => {
    for (const k of [2, 4, 6]) {
      const graph = fatTree(k)
      expect(hostsOf(graph).length).toBe(k ** 3 / 4)
      expect(graph.nodes - k ** 3 / 4).toBe((5 * k * k) / 4)
      expect(degrees(graph).every((degree, node) => degree === (graph.isSwitch[node] === 1 ? k : 1))).toBe(true)
      expect(hops(graph)).toBe(5)
    }
  })

  it("every core reaches every pod once", () => {
    const graph = clos({ pods: 3, torsPerPod: 2, aggsPerPod: 2, coresPerAgg: 3, hostsPerTor: 2 })
    const cores = degrees(graph).slice(-6)
    expect(cores).toEqual([3, 3, 3, 3, 3, 3])
    expect(new Routes(graph, new Ports(graph)).nextHops(12, 11).length).toBe(2)
  })
})

describe("hpccFabric", () => {
  it("has the tiers of the paper", () => {
    const graph = hpccFabric()
    expect([graph.nodes, graph.links.length]).toEqual([376, 480])
    expect(degrees(graph)).toEqual([
      ...new Array(320).fill(1),
      ...new Array(20).fill(20),
      ...new Array(20).fill(8),
      ...new Array(16).fill(5),
    ])
    expect(graph.links.map((link) => link.rateBps)).toEqual([
      ...new Array(320).fill(1e11),
      ...new Array(160).fill(4e11),
    ])
    expect(graph.links.every((link) => link.delayPs === 1e6 && link.lossRate === 0 && link.a < link.b)).toBe(true)
    // Sorted by the lower end, then by the upper.
    const keys = graph.links.map((link) => link.a * 1000 + link.b)
    expect(keys).toEqual(keys.toSorted((x, y) => x - y))
    expect(pairs(graph).slice(320, 325)).toEqual(["320-340", "320-341", "320-342", "320-343", "321-340"])
    expect(pairs(graph).slice(404, 406)).toEqual(["341-364", "341-365"])
  })

  const file = new URL("../../../../shared/data/ns3/topo_fat320.txt", import.meta.url)
  it.skipIf(!existsSync(file))("lists the links of the public topology file, in its order", () => {
    const tokens = readFileSync(file, "utf8").trim().split(/\s+/)
    const take = (count: number): ReadonlyArray<string> => tokens.splice(0, count)
    const [nodes = 0, switches = 0, links = 0] = take(3).map(Number)
    const isSwitch = new Uint8Array(nodes)
    for (const id of take(switches)) isSwitch[Number(id)] = 1
    const listed = Array.from({ length: links }, () => {
      const [a = "", b = "", rate = "", delay = "", loss = ""] = take(5)
      return { a: +a, b: +b, rateBps: parseRate(rate), delayPs: parseTime(delay), lossRate: +loss }
    })
    expect(hpccFabric()).toEqual({ nodes, isSwitch, links: listed })
  })
})

it("refuses shapes that do not exist", () => {
  const shapes = [
    () => star(0),
    () => dumbbell(1, 0.5),
    () => fatTree(3),
    () => fatTree(0),
    () => ring({ switches: 2, hostsPerSwitch: 1 }),
    () => leafSpine({ leaves: 1, spines: -1, hostsPerLeaf: 1 }),
    () => clos({ pods: 1, torsPerPod: 1, aggsPerPod: 1, coresPerAgg: Number.NaN, hostsPerTor: 1 }),
  ]
  for (const shape of shapes) expect(shape).toThrow(TopologyError)
})
