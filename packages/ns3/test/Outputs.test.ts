import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { formatPfc, formatPfcLine, formatQlen, parsePfc, parseQlen } from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { octetsOf, textOf } from "./testdata.ts"

describe("PFC events", () => {
  test("the simulator's 358 lines are written back octet for octet", () => {
    const events = parsePfc(octetsOf("pfcdemo/timely.pfc.txt"), "pfc.txt")
    expect(events.count).toBe(358)
    expect([events.timeNs[0], events.node[0], events.nodeType[0], events.intf[0], events.pause[0]]).toEqual([
      2000007295, 7, 0, 1, 1,
    ])
    expect(formatPfc(events)).toBe(textOf("pfcdemo/timely.pfc.txt"))
    expect(parsePfc(octetsOf("tiny/hpcc.pfc.txt"), "pfc.txt").count).toBe(0)
  })

  test.each([
    ["1 2 3 4 5", 'f:1:5: node type: found "3", expected a whole number 0..1'],
    ["1 2 0 4 1\n1 2", "f:2:4: node type: found nothing, expected a whole number 0..1; the file ends here"],
  ])("%j", (text, message) => {
    expect(messageOf(() => parsePfc(text, "f"))).toBe(message)
  })

  test("format, then parse: the same events", () => {
    const short = fc.integer({ min: 0, max: 65535 })
    const bit = fc.integer({ min: 0, max: 1 })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.maxSafeNat(), short, bit, short, fc.boolean()), { maxLength: 20 }), (lines) => {
        const text = lines.map((each) => formatPfcLine(...each)).join("")
        expect(formatPfc(parsePfc(text, "f"))).toBe(text)
      }),
      { numRuns: 50 },
    )
  })
})

describe("queue lengths", () => {
  test.each(["tiny/hpcc", "incast16/hpcc", "incast16/dcqcn", "incast16/timely", "pfcdemo/timely"])(
    "%s is written back octet for octet",
    (name) => {
      const file = parseQlen(octetsOf(`${name}.qlen.txt`), "q")
      expect(file.notes).toEqual([])
      expect(formatQlen(file)).toBe(textOf(`${name}.qlen.txt`))
    },
  )

  test("counts are by port and cumulative", () => {
    const { dumps } = parseQlen(octetsOf("incast16/hpcc.qlen.txt"), "q")
    expect(dumps.map(({ timeNs }) => timeNs)).toEqual([2_000_000_000, 2_100_000_000])
    const port = dumps[1]!.ports.find(({ node, intf }) => node === 17 && intf === 17)!
    expect(port.counts[0]).toBe(988863)
    for (const dump of dumps) expect(dump.ports.length).toBe(17)
    for (const { counts } of dumps[1]!.ports) expect(counts.reduce((sum, count) => sum + count)).toBe(1_000_001)
  })

  test("counts that shrink are noted", () => {
    const { notes } = parseQlen("time: 1\n2 1 5\ntime: 2\n2 1 3 1\n", "q")
    expect(notes).toEqual([
      { file: "q", line: 4, column: 1, text: expect.stringContaining("port 2.1 has fewer samples") },
    ])
  })

  test.each([
    ["2 1 5", 'q:1:1: dump: found "2", expected "time:"'],
    ["time: x", 'q:1:7: time: found "x", expected a whole number of at least 0'],
    ["time: 1\n2\n1 5", 'q:3:1: interface: found "1", expected the interface on line 2, after its switch'],
    ["time: 1\n2 1 5 x", 'q:2:7: count: found "x", expected a whole number 0..4294967295'],
  ])("%j", (text, message) => {
    expect(messageOf(() => parseQlen(text, "q"))).toBe(message)
  })

  test("format, then parse: the same dumps", () => {
    const port = fc.record({
      node: fc.integer({ min: 0, max: 65535 }),
      intf: fc.integer({ min: 0, max: 65535 }),
      counts: fc.array(fc.integer({ min: 0, max: 0xffffffff })).map((counts) => Float64Array.from(counts)),
    })
    const dump = fc.record({ timeNs: fc.maxSafeNat(), ports: fc.array(port, { maxLength: 5 }) })
    fc.assert(
      fc.property(fc.array(dump, { maxLength: 4 }), (dumps) => {
        expect(parseQlen(formatQlen({ dumps }), "q").dumps).toEqual(dumps)
      }),
      { numRuns: 50 },
    )
  })
})
