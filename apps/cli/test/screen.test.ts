import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { counted, difference, grouped, percent, quantity, ratio, short, sizeLabel } from "../src/Figures.ts"
import { ProgressLine } from "../src/ProgressLine.ts"
import { formatDuration } from "../src/pcap/Times.ts"
import { tableLines } from "../src/Table.ts"

describe("figures", () => {
  test("are the same on every machine", () => {
    expect([0, 999, 1000, 9674280].map(grouped)).toEqual(["0", "999", "1,000", "9,674,280"])
    expect([300, 1000, 120_000, 5e6, Number.POSITIVE_INFINITY].map(sizeLabel)).toEqual([
      "300 B",
      "1K",
      "120K",
      "5M",
      "∞",
    ])
    expect([0, 950, 2.36e6, 1e9].map(short)).toEqual(["0", "950", "2.36 M", "1.00 G"])
    expect([999, 999_400, 999_600, 999_999_999].map(short)).toEqual(["999", "999 k", "1.00 M", "1.00 G"])
    expect([0, 288, 2500].map((bytes) => quantity(bytes, "B"))).toEqual(["0 B", "288 B", "2.50 kB"])
    expect([999.9, 999_400, 999_600, 999_999_999].map(formatDuration)).toEqual([
      "1.00 us",
      "999 us",
      "1.00 ms",
      "1.00 s",
    ])
    expect([ratio(1.239), ratio(Number.NaN)]).toEqual(["1.24", "-"])
    expect([counted(1, "switch", "switches"), counted(2, "switch", "switches")]).toEqual(["1 switch", "2 switches"])
  })

  test("do not round a difference away, nor make a whole of a part", () => {
    expect([difference(2, 2), difference(1, 2), difference(2, 1), difference(1e9, 1e9 + 1)]).toEqual([
      ...["=", "+100 %", "-50.0 %", "+<0.001 %"],
    ])
    expect([difference(0, 1), difference(Number.NaN, 1), difference(1000, 1000.5)]).toEqual(["∞ %", "-", "+0.050 %"])
    expect([percent(7981, 7981), percent(7980, 7981), percent(1, 7981), percent(0, 7981), percent(0, 0)]).toEqual([
      ...["100 %", ">99.9 %", "<0.1 %", "0 %", "-"],
    ])
  })
})

describe("a table", () => {
  const columns = [
    { header: "name", align: "left" },
    { header: "a", droppable: 0 },
    { header: "b", droppable: 1 },
  ] as const
  const rows = [
    ["one", "1", "100"],
    ["twelve", "12", "7"],
  ]

  test("lines up", () => {
    expect(tableLines(columns, rows, { columns: 80 })).toEqual([
      "name     a    b",
      "one      1  100",
      "twelve  12    7",
    ])
  })

  test("drops columns, then cuts lines, in little room", () => {
    expect(tableLines(columns, rows, { columns: 14 })).toEqual(["name     a", "one      1", "twelve  12"])
    expect(tableLines(columns, rows, { columns: 5 })).toEqual(["name", "one", "twel…"])
  })

  test("drops columns that have nothing to say before others", () => {
    const silent = rows.map(([name, first, ...rest]) => [name!, "-", first!, ...rest])
    const more = [columns[0]!, { header: "errors", droppable: -1 }, columns[1]!, columns[2]!]
    expect(tableLines(more, silent, { columns: 15 })).toEqual(["name     a    b", "one      1  100", "twelve  12    7"])
  })
})

describe("progress", () => {
  const at = (flowsFinished: number, packetHops: number) => {
    const finishedShare = flowsFinished / 7981
    return { simulatedPs: 6.3e9, packetHops, events: packetHops, flowsFinished, flowsTotal: 7981, finishedShare }
  }
  const told = async (
    isTerminal: boolean,
    steps: ReadonlyArray<readonly [ms: number, finished: number, hops: number]>,
  ) => {
    let text = ""
    let now = 0
    const write = (piece: string | Uint8Array) =>
      Effect.sync(() => {
        text += piece
      })
    const line = new ProgressLine({ write, isTerminal, color: false }, 100, () => now)
    for (const [ms, finished, hops] of steps) {
      now = ms
      await Effect.runPromise(line.update(at(finished, hops)))
    }
    await Effect.runPromise(line.clear)
    return text
  }

  test("is one line on a terminal, gone at the end", async () => {
    const text = await told(true, [
      [50, 1, 1],
      [100, 100, 290_000],
      [2000, 4950, 5_800_000],
    ])
    expect(text.split("\r\x1b[K")).toEqual([
      "",
      "1.3 %  100 of 7,981 flows  at 6.300 ms  2.90 M hops/s",
      "62.0 %  4,950 of 7,981 flows  at 6.300 ms  2.90 M hops/s  0:02 left",
      "",
    ])
  })

  test("is a line now and then elsewhere, none in a short run", async () => {
    expect(await told(false, [[29_000, 1000, 1]])).toBe("")
    const text = await told(false, [
      [10_000, 1000, 1],
      [30_000, 1000, 3e6],
      [31_000, 1000, 4e6],
      [60_000, 2000, 9e6],
    ])
    expect(text).toBe(
      "12.5 %  1,000 of 7,981 flows  at 6.300 ms  100 k hops/s  3:30 left\n25.1 %  2,000 of 7,981 flows  at 6.300 ms  200 k hops/s  3:00 left\n",
    )
  })
})
