import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  formatNote,
  formatTopology,
  formatTraceList,
  linkDelayNs,
  type Ns3Topology,
  parseTopology,
  parseTraceList,
} from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { textOf } from "./testdata.ts"

describe("the simulator's topologies", () => {
  test.each(["tiny", "incast16"])("%s is written back octet for octet", (name) => {
    const text = textOf(`${name}/topology.txt`)
    expect(formatTopology(parseTopology(text, "t"))).toBe(text)
  })

  test("links are in picoseconds and bits/s", () => {
    const { nodes, switches, links } = parseTopology(textOf("tiny/topology.txt"), "t")
    expect({ nodes, switches }).toEqual({ nodes: 3, switches: [2] })
    expect(links).toEqual([
      { a: 0, b: 2, rateBps: 100e9, delayPs: 1e6, lossRate: 0, line: 3 },
      { a: 1, b: 2, rateBps: 100e9, delayPs: 1e6, lossRate: 0, line: 4 },
    ])
  })

  test("rates and delays as ns-3 spells them, line ends anywhere", () => {
    const { links } = parseTopology("2 0\r\n1\n0 1\n25000000000 0.001ms 1e-3", "t")
    expect(links).toEqual([{ a: 0, b: 1, rateBps: 25e9, delayPs: 1e6, lossRate: 1e-3, line: 3 }])
  })
})

test("delays in whole nanoseconds as the simulator's doubles make them (nstime.h, Time::FromDouble)", () => {
  const written = ["0.3us", "1.2us", "1.5us", "0.001ms", "0.009ms", "0.0000003s", "1500ps", "2.7ns", "1000ns"]
  const lines = written.map((delay) => `0 1 1Gbps ${delay} 0`).join("\n")
  const { links } = parseTopology(`2 0 ${written.length}\n${lines}`, "t")
  expect(links.map(linkDelayNs)).toEqual([299, 1199, 1500, 1000, 8999, 299, 1, 2, 1000])
  expect(links.map(({ delayPs }) => delayPs)).toEqual([3e5, 12e5, 15e5, 1e6, 9e6, 3e5, 1500, 2700, 1e6])
})

test("rates as the simulator's doubles make them (DataRate::DoParse)", () => {
  const written = ["4.1Gbps", "8.2Gb/s", "2.5Gbps", "4.1Mbps", "0.5GB/s", "100Gbps"]
  const lines = written.map((rate) => `0 1 ${rate} 1us 0`).join("\n")
  const { links } = parseTopology(`2 0 ${written.length}\n${lines}`, "t")
  expect(links.map(({ rateBps }) => rateBps)).toEqual([4099999999, 8199999999, 2.5e9, 4099999, 4e9, 100e9])
})

describe("errors point at the word", () => {
  const links = (lines: string, head = "3 1 1\n2\n") => `${head}${lines}`
  test.each([
    [
      links("0 3 1Gbps 1us 0"),
      '3:3: destination node: found "3", expected a whole number 0..2; the file says it has 3',
    ],
    ["3 2 1\n2 2", '2:3: switch: found "2", expected a switch that is not yet named'],
    ["3 4 1\n", '1:3: number of switches: found "4", expected a whole number 0..3'],
    ["65537 1 1", '1:1: number of nodes: found "65537", expected a whole number 1..65536'],
    [
      links("0 0 1Gbps 1us 0"),
      '3:3: destination node: found "0", expected a node other than 0; a link joins two nodes',
    ],
    [links("0 2 0Gbps 1us 0"), '3:5: rate: found "0Gbps", expected a rate above zero'],
    [links("0 2 1Gbp 1us 0"), '3:5: rate: found "1Gbp", expected a rate such as "100Gbps"'],
    [links("0 2 1Gbps 1um 0"), '3:11: delay: found "1um", expected a time such as "1000ns"'],
    [links("0 2 1Gbps -1us 0"), '3:11: delay: found "-1us", expected a time such as "1000ns"'],
    [links("0 2 1Gbps 1000 0"), '"1000ns" or "0.001ms"; without a unit ns-3 reads seconds; write "1000ns"'],
    [links("0 2 1Gbps 1us 1.5"), '3:15: loss rate: found "1.5", expected a number 0..1'],
    [links("0 2 1Gbps 1us x"), '3:15: loss rate: found "x", expected a number 0..1'],
    [links("0 2 1Gbps 1us 0\n", "3 1 2\n2\n"), "4:1: link: found nothing, expected 2 links; the file ends after 1"],
    [links("0 2 1Gbps"), "3:10: delay: found nothing, expected the delay of the link; the file ends here"],
    ["", "1:1: number of nodes: found nothing, expected a whole number 1..65536; the file ends here"],
  ])("%j", (text, message) => {
    expect(messageOf(() => parseTopology(text, "t"))).toContain(message)
  })
})

test("what is left over, and second links, are noted", () => {
  const { notes, links } = parseTopology("2 0 2\n\n0 1 1Gbps 1us 0\n1 0 1Gbps 1us 0\n7\n", "t")
  expect(links.length).toBe(2)
  expect(notes.map(formatNote)).toEqual([
    "t:4:15: note: a second link between 1 and 0: the original routes over it alone, not line 3",
    "t:5:1: note: words after the last of 2 links: not read",
  ])
})

test("format, then parse: the same topology", () => {
  const topology = fc.integer({ min: 2, max: 40 }).chain((nodes) => {
    const node = fc.integer({ min: 0, max: nodes - 1 })
    return fc.record({
      nodes: fc.constant(nodes),
      switches: fc.uniqueArray(node),
      links: fc.array(
        fc
          .record({
            a: node,
            b: node,
            rateBps: fc.oneof(fc.constantFrom(25e9, 1e11, 4e11, 1e6), fc.integer({ min: 1, max: 2 ** 40 })),
            delayPs: fc.integer({ min: 0, max: 2 ** 48 }),
            lossRate: fc.double({ min: 0, max: 1, noNaN: true }),
            line: fc.constant(0),
          })
          .filter(({ a, b }) => a !== b),
      ),
    })
  })
  const plain = ({ nodes, switches, links }: Pick<Ns3Topology, "nodes" | "switches" | "links">) => ({
    nodes,
    switches,
    links: links.map(({ a, b, rateBps, delayPs, lossRate }) => [a, b, rateBps, delayPs, lossRate + 0]),
  })
  fc.assert(
    fc.property(topology, (made) => {
      expect(plain(parseTopology(formatTopology(made), "t"))).toEqual(plain(made))
    }),
    { numRuns: 60 },
  )
})

describe("trace lists", () => {
  test("the simulator's", () => {
    expect(parseTraceList(textOf("tiny/trace.txt"), "t")).toEqual({ nodes: [0, 1, 2], notes: [] })
    expect(parseTraceList("0\n", "t").nodes).toEqual([])
  })

  test.each([[[]], [[7]], [[3, 0, 65_535]]])("%j is read as it was written", (nodes) => {
    expect(parseTraceList(formatTraceList(nodes), "t")).toEqual({ nodes, notes: [] })
  })

  test("unknown and repeated nodes are dropped with a note", () => {
    const { nodes, notes } = parseTraceList("4 9 1 1 0 5", "t", 3)
    expect(nodes).toEqual([1, 0])
    expect(notes.map(({ column }) => column)).toEqual([3, 7, 11])
  })

  test.each([
    ["2 1", "t:1:4: node: found nothing, expected 2 node ids; the file ends after 1"],
    ["1 a", 't:1:3: node: found "a", expected a whole number 0..65535'],
  ])("%j", (text, message) => {
    expect(messageOf(() => parseTraceList(text, "t"))).toBe(message)
  })
})
