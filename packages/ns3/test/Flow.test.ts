import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { flowsOf, formatFlows, formatNote, type Ns3Flows, parseFlows, parseTopology } from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { textOf } from "./testdata.ts"

const topology = { nodes: 376, switches: [320, 321] }
const plain = ({ line: _, notes: __, ...flows }: Ns3Flows) => flows
const notesOf = (text: string) => parseFlows(text, "flow.txt").notes.map(formatNote)

describe("the simulator's flows", () => {
  test("fat320: 7,981 flows, written back octet for octet but for a space", () => {
    const text = textOf("fat320-fbhdp/flow.txt.gz")
    const flows = parseFlows(text, "flow.txt", topology)
    expect(flows.count).toBe(7981)
    expect(flows.notes).toEqual([])
    expect(formatFlows(flows)).toBe(text.replace(" \n", "\n"))
  })

  test("a start is kept exactly, as a double, and as ns-3's clock has it", () => {
    const flows = parseFlows("1\n0 1 3 100 443 2.000000164", "f")
    expect(flows.startPs[0]).toBe(2_000_000_164_000)
    expect(flows.startSeconds[0]).toBe(2.000000164)
    expect(flows.startNs[0]).toBe(2_000_000_163)
    expect(formatFlows(flows)).toBe("1\n0 1 3 100 443 2.000000164\n")
  })

  test("incast16", () => {
    const flows = parseFlows(textOf("incast16/flow.txt"), "f", parseTopology(textOf("incast16/topology.txt"), "t"))
    expect([flows.count, flows.dst[15], flows.sizeBytes[15], flows.startNs[15]]).toEqual([16, 16, 1e6, 2e9])
    expect(flows.line[15]).toBe(17)
  })
})

describe("errors point at the word", () => {
  test.each([
    ["2\n0 1 3 100 5 2.0\nabc 1 3 100 5 2.0", '3:1: source node: found "abc", expected a whole number 0..375'],
    ["1\n0 376 3 100 5 2.0", '2:3: destination node: found "376", expected a whole number 0..375'],
    ["1\n0 320 3 100 5 2.0", '2:3: destination node: found "320", expected a host; the topology says that node 320 is'],
    ["1\n5 5 3 100 5 2.0", '2:3: destination node: found "5", expected a host other than 5'],
    ["1\n0 1 0 100 5 2.0", '2:5: pg: found "0", expected a whole number 1..7; 1..7 carry data, 0 is the control queue'],
    ["1\n0 1 8 100 5 2.0", '2:5: pg: found "8", expected a whole number 1..7'],
    ["1\n0 1 3 65536 5 2.0", '2:7: dport: found "65536", expected a whole number 0..65535'],
    ["1\n0 1 3 100 -5 2.0", '2:11: size: found "-5", expected a whole number of at least 0'],
    ["1\n0 1 3 100 1.5 2.0", '2:11: size: found "1.5", expected a whole number of at least 0; sizes are whole bytes'],
    ["1\n0 1 3 100 5 -2.0", '2:13: start: found "-2.0", expected a number 0..9000; starts are in seconds'],
    ["1\n0 1 3 100 5 2000000000", '2:13: start: found "2000000000", expected a number 0..9000; starts are in seconds'],
    ["1\n0 1 3 100 5 inf", '2:13: start: found "inf", expected a number 0..9000'],
    ["1\n0 1 3 100 5", "2:12: start: found nothing, expected a time in seconds; the file ends here"],
    [
      "3\n0 1 3 100 5 2.0\n",
      "3:1: flow: found nothing, expected 3 flows, as the first line says; the file ends after 1",
    ],
    ["", "1:1: number of flows: found nothing, expected a whole number; the file ends here"],
    ["-1", '1:1: number of flows: found "-1", expected a whole number of at least 0'],
  ])("%j", (text, message) => {
    expect(messageOf(() => parseFlows(text, "flow.txt", topology))).toContain(`flow.txt:${message}`)
  })

  test("a missing field is named as the likely cause of what follows", () => {
    const message = messageOf(() => parseFlows("3\n0 1 3 100 5\n0 1 3 100 5 2.0\n0 1 3 100 5 2.0\n", "f"))
    expect(message).toContain("a flow has 6 fields, and the one that begins on line 2 runs over the line's end")
  })
})

describe("what is kept with a note", () => {
  const flow = "0 1 3 100 5 2.0\n"

  test("a count with stale digits, as the public generator leaves it", () => {
    expect(notesOf(`123 \n${flow.repeat(12)}`)).toEqual([
      "flow.txt:1:1: note: the first line says 123, the file has 12 flows: read as 12 written over a longer number",
    ])
    expect(messageOf(() => notesOf(`132\n${flow.repeat(12)}`))).toContain("expected 132 flows")
    expect(messageOf(() => notesOf(`123\n${flow.repeat(12)}0 1 3`))).toContain("14:6: dport: found nothing")
    expect(messageOf(() => notesOf("8\n"))).toContain("expected 8 flows")
  })

  test("more flows than the count", () => {
    expect(notesOf(`1\n${flow.repeat(3)}`)).toEqual([
      "flow.txt:3:1: note: 2 more flows than the 1 flows the first line says: not read",
    ])
  })

  test("starts out of order: sorted, equal ones in file order", () => {
    const flows = parseFlows("4\n0 1 3 100 1 2.2\n0 1 3 100 2 2.1\n0 1 3 100 3 2.2\n0 1 3 100 4 2.1", "flow.txt")
    expect([...flows.sizeBytes]).toEqual([2, 4, 1, 3])
    expect([...flows.line]).toEqual([3, 5, 2, 4])
    expect(flows.notes.map(formatNote)).toEqual([
      "flow.txt:3:1: note: starts before the flow above it: sorted by start, equal starts in file order",
    ])
  })

  test("sizes that the original cannot do", () => {
    const flows = parseFlows("2\n0 1 3 100 0 2\n0 1 3 100 5000000000 2", "flow.txt")
    expect(flows.sizeBytes[1]).toBe(5e9)
    expect(flows.notes.map(({ line }) => line)).toEqual([2, 3])
  })
})

test("format, then parse: the same flows", () => {
  const flow = fc
    .record({
      src: fc.integer({ min: 0, max: 65535 }),
      dst: fc.integer({ min: 0, max: 65535 }),
      pg: fc.integer({ min: 1, max: 7 }),
      dport: fc.integer({ min: 0, max: 65535 }),
      sizeBytes: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      startPs: fc.oneof(
        fc.integer({ min: 0, max: 9e15 }),
        fc.integer({ min: 0, max: 9e12 }).map((ns) => ns * 1000),
      ),
    })
    .filter(({ src, dst }) => src !== dst)
  fc.assert(
    fc.property(fc.array(flow, { maxLength: 30 }), (made) => {
      const flows = flowsOf(made)
      expect(plain(parseFlows(formatFlows(flows), "f"))).toEqual(plain(flows))
    }),
    { numRuns: 60 },
  )
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1000, noNaN: true }), (seconds) => {
      const flows = parseFlows(`1\n0 1 3 100 5 ${seconds}`, "f")
      expect(plain(parseFlows(formatFlows(flows), "f"))).toEqual(plain(flows))
    }),
  )
})

test("a decimal start is read as C++ reads it: to the nearest double", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9000 }), fc.stringMatching(/^\d{0,18}$/), (whole, fraction) => {
      const text = `${whole}.${fraction}`
      fc.pre(Number(text) <= 9000)
      expect(parseFlows(`1\n0 1 3 100 5 ${text}`, "f").startSeconds[0]).toBe(Number(text))
    }),
  )
})
