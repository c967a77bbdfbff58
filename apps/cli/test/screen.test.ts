import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { counted, difference, grouped, percent, quantity, ratio, short, sizeLabel } from "../src/Figures.ts"
import { paintOf } from "../src/Paint.ts"
import { ProgressLine } from "../src/ProgressLine.ts"
import { formatDuration } from "../src/pcap/Times.ts"
import { showing } from "../src/Screen.ts"
import { inOneLine, shown } from "../src/Shown.ts"
import { StatusLine } from "../src/StatusLine.ts"
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

test("a table has as many rows as there are", () => {
  const rows = {
    *[Symbol.iterator]() {
      for (let row = 0; row < 200_000; row++) yield [String(row)]
    },
  }
  const lines = tableLines([{ header: "row" }], rows, { columns: Number.POSITIVE_INFINITY })
  expect([lines.length, lines[1], lines.at(-1)]).toEqual([200_001, "     0", "199999"])
})

describe("what is shown of a text", () => {
  /** What a terminal obeys, and what it may have: our colours, and lines. */
  const commands = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index)]
    .filter((code) => code !== 0x09 && code !== 0x0a)
    .map((code) => String.fromCharCode(code))

  test("C0, DEL and C1 are escaped as JSON has them; lines, columns and our own colours stay", () => {
    for (const command of commands) {
      const text = `a${command}[31mb`
      expect(JSON.parse(`"${shown(text)}"`)).toBe(text)
      expect(shown(text)).toMatch(/^[\x20-\x7e]+$/)
      expect(inOneLine(text)).toBe(shown(text))
    }
    expect(shown("a\tb\nü 東")).toBe("a\tb\nü 東")
    expect(inOneLine("a\tb\nc")).toBe("a\\u0009b\\u000ac")
    const paint = paintOf({ color: true })
    expect(shown(paint.red("\x1b[2J\u009b2J"))).toBe("\x1b[31m\\u001b[2J\\u009b2J\x1b[0m")
  })

  test("a text that is JSON commands no more than a colour, whatever is in it", () => {
    for (const text of ["\udc1b]52;c;x\x07", "\udc1b[2J", "\udc0d", "\ud83d\udc1b[31m", "\udc1bc"]) {
      expect(shown(text)).not.toMatch(/\p{Cc}/u)
    }
  })

  test("a surface leaves octets as they are", async () => {
    const pieces: Array<string | Uint8Array> = []
    const write = (piece: string | Uint8Array) => Effect.sync(() => void pieces.push(piece))
    const surface = showing({ write, isTerminal: true, color: true, columns: 80 })
    const octets = Uint8Array.of(0x1b, 0x0d)
    await Effect.runPromise(Effect.andThen(surface.write("\x1b\r"), surface.write(octets)))
    expect(pieces).toEqual(["\\u001b\\u000d", octets])
  })

  test("a line of progress and a cell of a table are one line", async () => {
    const pieces: Array<string | Uint8Array> = []
    const write = (piece: string | Uint8Array) => Effect.sync(() => void pieces.push(piece))
    let now = 0
    const line = new StatusLine(showing({ write, isTerminal: true, color: true, columns: 16 }), () => now)
    now = 1000
    await Effect.runPromise(line.update(() => "50 %  \x1b[2J\n.pcap"))
    expect(pieces.join("")).toBe("\r\x1b[K50 %  \\u001b[2J")
    const table = tableLines([{ header: "file", align: "left" }, { header: "n" }], [["a\x1b\nb", "1"]], { columns: 80 })
    expect(table).toEqual(["file            n", "a\\u001b\\u000ab  1"])
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
    const line = new ProgressLine(showing({ write, isTerminal, color: false, columns: 100 }), () => now)
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
