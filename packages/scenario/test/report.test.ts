import {
  fairnessByHost,
  loadScenario,
  Ns3Simulation,
  Recorder,
  type RunOutcome,
  ScenarioSimulation,
  seriesCsv,
  slowdownByWorkload,
  slowdownRows,
} from "@rdmakit/scenario"
import { legendHtml, lineChart, reportPage } from "@rdmakit/scenario/report"
import { formatSize } from "@rdmakit/units"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { referenceInputs, runToEnd } from "./reference.ts"

interface Reported {
  readonly page: string
  readonly outcome: RunOutcome
  readonly recorder: Recorder
}

const words = { title: "a run", input: "s.yaml", ideal: "the time alone" }

const reportOf = (run: ScenarioSimulation | Ns3Simulation, more: Partial<typeof words> = {}): Reported => {
  const recorder = new Recorder(run)
  const outcome = runToEnd(run)
  return { page: reportPage({ ...words, ...more, outcome, recorder }), outcome, recorder }
}

const scenario = async (text: string): Promise<ScenarioSimulation> => {
  const octets = new TextEncoder().encode(text)
  const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets })
  return new ScenarioSimulation(await Effect.runPromise(Effect.provide(loaded, memoryFiles({}))))
}

const incast = () =>
  scenario(`topology: { builder: star, hosts: 9, link: { rate: 100Gbps, delay: 1us } }
flows: [{ from: 0..7, to: 8, size: 200KB }, { from: 0..7, to: 8, size: 1KB, start: 60us }]`)

/** The cells of the table in a section of the page, row by row. */
const table = (page: string, id: string): ReadonlyArray<ReadonlyArray<string>> => {
  const section = page.slice(page.indexOf(`<section id="${id}">`))
  const body = section.slice(section.indexOf("<tbody>"), section.indexOf("</tbody>"))
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell!),
  )
}

const factOf = (page: string, name: string): string | undefined =>
  new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`).exec(page)?.[1]

interface Data {
  readonly slowdown: ReadonlyArray<unknown>
  readonly samplePeriodPs: number
  readonly charts: Readonly<
    Record<string, ReadonlyArray<{ readonly name: string; readonly points: ReadonlyArray<readonly [number, number]> }>>
  >
}
const dataOf = (page: string): Data =>
  JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)![1]!)

it("several workloads, each by itself; how fairly flows to one host shared its link", async () => {
  const { page, outcome, recorder } = reportOf(
    await scenario(`topology: { builder: star, hosts: 9 }
flows: [{ workload: incast, senders: 0..3, receiver: 8, size: 100KB }, { workload: ring, hosts: 4..6, size: 2KB }]`),
  )
  const parts = slowdownByWorkload(outcome)
  expect(table(page, "workloads")).toEqual(
    parts.flatMap(({ workload, rows }) =>
      [rows.at(-1)!, ...rows.slice(0, -1)].map(({ endBytes, count, p50, p95, p99, mean }) => [
        workload,
        Number.isNaN(endBytes) ? "all" : formatSize(endBytes),
        String(count),
        ...[p50, p95, p99, mean].map((each) => each.toFixed(2)),
      ]),
    ),
  )
  const [told] = fairnessByHost(recorder)
  expect(table(page, "fairness")[0]!.slice(0, 3)).toEqual(["8", "4", told!.meanIndex.toFixed(2)])
  const [line, ...others] = dataOf(page).charts.fairnessOverTime!
  expect([line!.name, others]).toEqual(["to host 8", []])
  const indices = line!.points.map(([, index]) => index).filter(Number.isFinite)
  expect(Math.min(...indices)).toBeGreaterThanOrEqual(told!.leastIndex)
  expect(Math.max(...indices)).toBeLessThanOrEqual(1)
})

describe("an incast", async () => {
  const { page, outcome, recorder } = reportOf(await incast())
  const { charts, slowdown, samplePeriodPs } = dataOf(page)

  it("slowdown by size, in the table and for the chart", () => {
    const rows = slowdownRows(outcome)
    const figures = rows.map(({ count, p50, p95, p99, mean }) => [
      String(count),
      ...[p50, p95, p99, mean].map((each) => each.toFixed(2)),
    ])
    expect(table(page, "slowdown").map(([size, ...cells]) => [size, cells])).toEqual(
      ["1kB", "500kB", "all"].map((size, index) => [size, figures[index]]),
    )
    expect(slowdown).toEqual(
      rows.map(({ endBytes, ...stats }) => ({ upToBytes: Number.isNaN(endBytes) ? "all" : endBytes, ...stats })),
    )
    expect(charts.slowdown).toEqual(
      (["p50", "p95", "p99"] as const).map((name) => ({
        name,
        points: [
          [0, rows[0]![name]],
          [1, rows[1]![name]],
        ],
      })),
    )
  })

  it("the queue over time is that of queue.csv", () => {
    const [line, ...others] = charts.queues!
    expect(line!.name).toBe("switch 9 → host 8")
    expect(others).toEqual([])
    const rows = seriesCsv(recorder, "queue")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.split(",").map(Number))
    const highest = Math.max(...rows.map(([, , , bytes]) => bytes!))
    expect(Math.max(...line!.points.map(([, bytes]) => bytes))).toBe(highest)
    expect(recorder.peakBytes[17]).toBe(highest)
    for (const [time, bytes] of line!.points) {
      // The longest since the point before, or of all samples when there are no more of them than points.
      const at = rows.find(([rowTime]) => rowTime === time)?.[3] ?? 0
      expect(bytes).toBeGreaterThanOrEqual(at)
    }
  })

  it("its distribution is that of the samples, to 1 %", () => {
    const [any, longest] = charts.queueCdf!
    for (const { points } of [any!, longest!]) {
      for (let i = 1; i < points.length; i++) {
        expect(points[i]![0]).toBeGreaterThanOrEqual(points[i - 1]![0])
        expect(points[i]![1]).toBeGreaterThanOrEqual(points[i - 1]![1])
      }
      expect(points.at(-1)).toEqual([recorder.peakBytes[17], 1])
    }
    const [bytes, share] = longest!.points.find(([, each]) => each > 0)!
    expect([bytes, share]).toEqual([0, recorder.longestBytes.shareUpTo(0)])
    // Of the samples that were kept, a few less than half.
    expect(share).toBeCloseTo((recorder.queues.samples - recorder.queues.rows) / recorder.queues.samples, 2)
  })

  it("rates over time are those of rate.csv", () => {
    const rows = seriesCsv(recorder, "rate")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.split(",").map(Number))
    const lines = charts.rates!
    expect(lines.map(({ name }) => name)).toEqual(
      [0, 1, 2, 3, 4, 5].map((flow) => `flow ${flow}: host ${flow} → host 8`),
    )
    for (const [flow, { points }] of lines.entries()) {
      const own = new Map(rows.filter((row) => row[1] === flow).map(([time, , rate]) => [time, rate]))
      const shown = points.filter(([time, rate]) => rate !== null && own.has(time))
      expect(shown.length).toBeGreaterThan(20)
      for (const [time, rate] of shown) expect(rate).toBe(own.get(time))
    }
    const [highest, median, lowest] = charts.rateRange!
    for (const [index, [time, most]] of highest!.points.entries()) {
      const rates = rows
        .filter((row) => row[0] === time)
        .map(([, , rate]) => rate!)
        .sort((a, b) => a - b)
      const middle = rates[Math.ceil(rates.length / 2) - 1]
      expect([lowest!.points[index]![1], median!.points[index]![1], most]).toEqual([rates[0], middle, rates.at(-1)])
    }
    expect(samplePeriodPs).toBe(recorder.period)
  })

  it("link use: 200 kB and 1 kB in packets of 1,090 B from each of eight hosts", () => {
    const bytes = 8 * 201 * 1090
    const [first, ...others] = table(page, "links")
    const share = ((bytes * 8) / (100e9 * (outcome.simulatedPs / 1e12))) * 100
    expect(first).toEqual(["switch 9 → host 8", "100Gbps", "1,752,720 B", `${share.toFixed(2)} %`])
    expect(bytes).toBe(1_752_720)
    expect(others.map((cells) => cells.slice(0, 3))).toEqual([
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((host) => [`host ${host} → switch 9`, "100Gbps", "219,090 B"]),
      // As many acknowledgements of 88 B.
      ["host 8 → switch 9", "100Gbps", "141,504 B"],
    ])
  })

  it("facts, and no pause", () => {
    expect(factOf(page, "Flows finished")).toBe("16 of 16")
    expect(factOf(page, "Packet-hops")).toBe((8 * 201 * 4).toLocaleString("en"))
    expect(factOf(page, "Dropped")).toBe("none")
    expect(page).toContain(`digest ${outcome.digest}`)
    expect(page).toContain("No port was paused.")
    expect(charts.paused).toBeUndefined()
  })

  it("stands alone", () => {
    expect(page).not.toMatch(/https?:|\bsrc=|@import|url\(/)
    expect([...page.matchAll(/href="(.*?)"/g)].map(([, target]) => target)).toEqual(["data:,"])
    expect([...page.matchAll(/<script(.*?)>/g)].map(([, attributes]) => attributes)).toEqual([
      ' type="application/json" id="data"',
    ])
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(page).toContain("@media (prefers-color-scheme: dark)")
    expect(page).not.toMatch(/NaN|undefined|Infinity/)
  })

  it("is the same from the same run, to the byte", async () => {
    expect(reportOf(await incast()).page).toBe(page)
  })
})

describe("lines that lie on each other", () => {
  const curve = (name: string, ...values: ReadonlyArray<number>) => ({
    name,
    points: values.map((value, index) => [index, value] as const),
  })
  const drawn = (...lines: ReadonlyArray<ReturnType<typeof curve>>) => {
    const x = { label: "x", unit: 1 }
    const svg = lineChart({ description: "", x, y: x, lines, places: ["a", "b", "c", "d"] })
    const wide = svg.slice(0, svg.indexOf("</svg>"))
    const legend = [...legendHtml(lines).matchAll(/<li><i class="(.*?)"><\/i>(.*?)<\/li>/g)]
    return {
      legend: legend.map(([, colour, text]) => [colour, text]),
      dashed: [...wide.matchAll(/class="line (c\d)" stroke-dasharray="(.*?)"/g)].map(([, colour, dash]) => [
        colour,
        dash,
      ]),
      radii: lines.map((_, index) =>
        [...wide.matchAll(new RegExp(`<circle class="c${index}"[^>]* r="(\\d)"`, "g"))].map(([, r]) => r).join(""),
      ),
    }
  }

  it("throughout: dashed, in larger dots below smaller ones, and in words", () => {
    expect(drawn(curve("p50", 1, 1, 2, 2), curve("p95", 3, 4, 5, 6), curve("p99", 3, 4, 5, 6))).toEqual({
      legend: [
        ["c0", "p50"],
        ["c1", "p95"],
        ["c2 dashed", "p99 (on p95)"],
      ],
      dashed: [["c2", "7 7"]],
      radii: ["3333", "5555", "3333"],
    })
    const all = drawn(curve("a", 3, 4, 5, 6), curve("b", 3, 4, 5, 6), curve("c", 3, 4, 5, 6))
    expect(all.dashed).toEqual([
      ["c1", "7 7"],
      ["c2", "4.7 9.3"],
    ])
    expect(all.radii).toEqual(["7777", "5555", "3333"])
  })

  it("in part, at one point, and on the axis", () => {
    expect(drawn(curve("a", 3, 4, 5, 6), curve("b", 3, 4, 5, 7)).legend[1]).toEqual(["c1 dashed", "b (partly on a)"])
    const crossing = curve("b", 9, 9, 9, 9, 3)
    expect(drawn(curve("a", 1, 2, 3, 4, 3), crossing).legend[1]).toEqual(["c1", "b"])
    expect(drawn(curve("a", 0, 0, 0, 4), curve("b", 0, 0, 0, 5)).legend[1]).toEqual(["c1", "b"])
  })

  it("the percentiles of a few flows", async () => {
    const text =
      "topology: { builder: star, hosts: 3 }\nflows: [{ from: 0, to: 2, size: 1KB }, { from: 1, to: 2, size: 1MB }]"
    const { page } = reportOf(await scenario(text))
    expect(page).toContain('<i class="c2 dashed"></i>p99 (on p50)')
  })
})

describe("pauses", () => {
  const { page, outcome, recorder } = reportOf(new Ns3Simulation(referenceInputs("pfcdemo/timely.config.txt")))

  it("are the run's", () => {
    expect(factOf(page, "Pauses")).toBe(String(outcome.pfcPauses))
    expect(factOf(page, "Port time paused")).toBe(`${(outcome.pfcPauseFraction * 100).toFixed(2)} %`)
    const end = recorder.start + outcome.simulatedPs
    const ports = Array.from({ length: recorder.world.ports.count }, (_, port) => port)
    const longest = ports.sort((a, b) => recorder.pauses.paused(b, end) - recorder.pauses.paused(a, end))[0]!
    const [first] = table(page, "pausedPorts")
    expect(first![0]).toBe(`host ${recorder.world.ports.node[longest]} → switch 17`)
    expect(first![1]).toBe(String(recorder.pauses.count(longest)))
    expect(first![3]).toBe(`${((recorder.pauses.paused(longest, end) / outcome.simulatedPs) * 100).toFixed(2)} %`)
  })

  it("over time add up to the whole", () => {
    const [line] = dataOf(page).charts.paused!
    let before = 0
    let total = 0
    for (const [time, share] of line!.points) {
      total += share * (time - before)
      before = time
    }
    expect(total / outcome.simulatedPs).toBeCloseTo(outcome.pfcPauseFraction, 3)
  })
})

describe("odd runs", () => {
  it("whatever a title says is text", async () => {
    const title = `</script><img src=x onerror="alert('1')">&`
    const { page } = reportOf(await incast(), { title, input: title })
    expect(page).not.toContain("<img")
    expect(page).toContain("&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;")
  })

  it("one flow: how its slowdown lies, for want of sizes", async () => {
    const text = "topology: { builder: star, hosts: 2 }\nflows: [{ from: 0, to: 1, size: 1KB }]"
    const { page } = reportOf(await scenario(text))
    expect(table(page, "slowdown")).toEqual(["1kB", "all"].map((size) => [size, "1", "1.00", "1.00", "1.00", "1.00"]))
    expect(dataOf(page).charts.slowdown).toEqual([
      {
        name: "flows",
        points: [
          [1, 0],
          [1, 1],
        ],
      },
    ])
    expect(dataOf(page).charts.rateRange).toBeUndefined()
  })

  it("no flow, and none that finished", async () => {
    const none = reportOf(await scenario("topology: { builder: star, hosts: 2 }\nflows: []"))
    expect(none.page).toContain("No flow finished.")
    const text = "topology: { builder: star, hosts: 2 }\nflows: [{ from: 0, to: 1, size: 1GB }]\nstop: 50us"
    const { page } = reportOf(await scenario(text))
    expect(page).toContain("No flow finished.")
    const [row] = table(page.replace('class="all" id', "id"), "unfinished")
    expect(row!.slice(0, 3)).toEqual(["0", "0 → 1", "1,000,000,000 B"])
    expect(row![3]).toMatch(/acknowledged/)
    for (const each of [none.page, page]) expect(each).not.toMatch(/NaN|undefined|Infinity/)
  })
})

it("a flow that fails is no longer under way: the report ends with the last flow", async () => {
  const { page, outcome, recorder } = reportOf(
    await scenario(`topology: { builder: star, hosts: 5 }
flows: [{ from: 0..2, to: 3, size: 200KB }, { from: 4, to: 3, size: 1KB, start: 1us }]
faults: [{ at: 0s, for: 2us, from: 4, to: 5, state: down }]`),
  )
  const end = Math.max(...[0, 1, 2].map((flow) => outcome.flows.finished[flow]!))
  expect(outcome.simulatedPs).toBe(end)
  expect(recorder.longestBytes.weight).toBeLessThanOrEqual(end)
  expect(recorder.queues.timeOf(recorder.queues.samples - 1)).toBeLessThanOrEqual(end)
  expect(Number.parseFloat(table(page, "links")[0]![3]!)).toBeGreaterThan(80)
})

describe("a stop time in the middle of packets", () => {
  const star = (hosts: number, rate: string) => `topology: { builder: star, hosts: ${hosts}, link: { rate: ${rate} } }`
  const links = async (text: string, kernel: "exact" | "fused" = "fused") => {
    const inputs = loadScenario("s.yaml", { workingDirectory: "/", octets: new TextEncoder().encode(text) })
    const loaded = await Effect.runPromise(Effect.provide(inputs, memoryFiles({})))
    const { page } = reportOf(new ScenarioSimulation(loaded, { kernel }))
    return table(page, "links").map(([link, , sent, used]) => [link, sent, used])
  }

  it("link use is of what was sent until then", async () => {
    // 1,250 B in 10 µs at 1 Gb/s. The first packet, of 1,090 B, comes to the switch after 9.72 µs.
    expect(await links(`${star(2, "1Gbps")}\nflows: [{ from: 0, to: 1, size: 1MB }]\nstop: 10us`)).toEqual([
      ["host 0 → switch 2", "1,250 B", "100.00 %"],
      ["switch 2 → host 1", "35 B", "2.80 %"],
    ])
  })

  it("where a queue waits, with either kernel", async () => {
    const text = `${star(4, "10Gbps")}\nflows: [{ from: 0..2, to: 3, size: 1MB }]\nstop: 20.008us`
    const fused = await links(text)
    // From 1.872 µs on, when the first packets have come, without a gap.
    expect(fused[0]).toEqual(["switch 4 → host 3", "22,670 B", "90.64 %"])
    expect(await links(text, "exact")).toEqual(fused)
  })
})
