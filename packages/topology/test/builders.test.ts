import { existsSync, readFileSync } from "node:fs"
import { parseRate, parseTime } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import {
  clos,
  dumbbell,
  ExactDelays,
  fatTree,
  type Graph,
  GraphBuilder,
  hostsOf,
  hpccFabric,
  hpccTestbed,
  leafSpine,
  Ports,
  Routes,
  ring,
  star,
  TopologyError,
  validate,
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

describe("hpccTestbed", () => {
  const graph = hpccTestbed()

  it("has two links for each of its 32 hosts, four racks' switches and one above", () => {
    expect([graph.nodes, graph.links.length]).toEqual([37, 68])
    expect([...graph.isSwitch]).toEqual([...new Array(32).fill(0), ...new Array(5).fill(1)])
    expect(degrees(graph)).toEqual([...new Array(32).fill(2), 17, 17, 17, 17, 4])
    expect(pairs(graph).slice(0, 3)).toEqual(["0-32", "0-33", "1-32"])
    expect(pairs(graph).slice(30, 34)).toEqual(["15-32", "15-33", "16-34", "16-35"])
    expect(pairs(graph).slice(64)).toEqual(["32-36", "33-36", "34-36", "35-36"])
    expect(graph.links.map(({ rateBps }) => rateBps)).toEqual([...new Array(64).fill(25e9), ...new Array(4).fill(1e11)])
  })

  it("has both links of a host on its shortest paths, within a rack and across", () => {
    const ports = new Ports(graph)
    const routes = new Routes(graph, ports)
    for (const destination of [1, 31]) {
      expect([...routes.nextHops(0, destination)].map((port) => ports.peerNode(port))).toEqual([32, 33])
    }
    expect([...routes.nextHops(36, 31)].map((port) => ports.peerNode(port))).toEqual([34, 35])
    expect([routes.distance(0, 1), routes.distance(0, 31), routes.maxHops]).toEqual([2, 4, 3])
  })

  it("has the paper's round trips: 5.4 µs within a rack, 8.5 µs between racks", () => {
    const ports = new Ports(graph)
    const delays = new ExactDelays(new Routes(graph, ports), ports, { dataBytes: 1090, ackBytes: 88 })
    // 4 · 1.16 µs; 1,090 B take 348.8 ns at 25 Gb/s and 87.2 at 100, 88 B take 28.16 and 7.04.
    expect(delays.pair(0, 1).rttPs).toBe(4 * 1_160_000 + 2 * (348_800 + 28_160))
    expect(delays.pair(0, 31).rttPs).toBe(delays.pair(0, 1).rttPs + 4 * 730_000 + 2 * (87_200 + 7040))
    expect(delays.pair(0, 1).rttPs / 1e6).toBeCloseTo(5.4, 1)
    expect(delays.pair(0, 31).rttPs / 1e6).toBeCloseTo(8.5, 1)
  })

  it("takes other links", () => {
    const other = hpccTestbed({ host: { rate: "50Gbps" }, fabric: { delay: "1us" } })
    expect(other.links[0]).toMatchObject({ rateBps: 50e9, delayPs: 1.16e6 })
    expect(other.links[67]).toMatchObject({ rateBps: 100e9, delayPs: 1e6 })
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

describe("what no packet can name is refused before there is memory for it", () => {
  it.each<[string, () => unknown, string]>([
    ["star(70000)", () => star(70_000), "70000 nodes: packets can name 65536"],
    ["star(65536), whose switch is one too many", () => star(65_536), "65537 nodes: packets can name 65536"],
    ["star(1e9)", () => star(1e9), "1000000000 nodes"],
    ["fatTree(200)", () => fatTree(200), "2000000 nodes"],
    ["fatTree(1000)", () => fatTree(1000), "250000000 nodes"],
    ["dumbbell", () => dumbbell(1e15, 1e15), "2000000000000000 nodes"],
    ["ring", () => ring({ switches: 3, hostsPerSwitch: 1e8 }), "300000000 nodes"],
    [
      "cores",
      () => clos({ pods: 1, torsPerPod: 1, aggsPerPod: 1, coresPerAgg: 1e9, hostsPerTor: 1 }),
      "1000000003 nodes",
    ],
    [
      "links",
      () => leafSpine({ leaves: 1000, spines: 1000, hostsPerLeaf: 1 }),
      "524289 links: packets can name 524288",
    ],
    ["parallel", () => leafSpine({ leaves: 1, spines: 1, hostsPerLeaf: 1, parallel: 1e9 }), "524289 links"],
  ])("%s", (_name, build, message) => {
    expect(build).toThrow(expect.objectContaining({ _tag: "TopologyError", kind: "size" }))
    expect(build).toThrow(message)
  })

  it("and so is what is no count", () => {
    const builder = new GraphBuilder()
    for (const count of [Number.NaN, -1, 0.5, "2" as never])
      expect(() => builder.hosts(count)).toThrow(`hosts is ${count}; it is a whole number, 0 or more`)
    expect(builder.switches(0)).toEqual([])
  })

  it("a graph made by hand too", () => {
    const graph = { nodes: 65_537, isSwitch: new Uint8Array(65_537), links: [] }
    expect(validate(graph).map(({ kind }) => kind)).toEqual(["size"])
  })

  it("and routes that find no room", () => {
    const graph = star(20_000)
    expect(() => new Routes(graph, new Ports(graph))).toThrow(
      "routes have no room: this is 20001 nodes and 20000 hosts, and the product of both is 250 million at most",
    )
  })
})
