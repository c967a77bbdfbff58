import { linkUse, quantile } from "@rdmakit/metrics"
import { LinkTable, Ns3Simulation, Recorder, type RunOutcome, ScenarioSimulation, seriesCsv } from "@rdmakit/scenario"
import { reportPage } from "@rdmakit/scenario/report"
import { describe, expect, it } from "vitest"
import { loadedScenario } from "./loading.ts"
import { referenceInputs, runToEnd } from "./reference.ts"

const HEADER =
  "from,to,interface,rate_bps,sent_bytes,use_fraction,paused_ps,queue_p50_bytes,queue_p99_bytes,queue_max_bytes"

const incast = `topology: { builder: star, hosts: 9, link: { rate: 100Gbps, delay: 1us } }
flows: [{ from: 0..7, to: 8, size: 200KB }, { from: 0..7, to: 8, size: 1KB, start: 60us }]
`
/** A buffer so small that hosts are paused, cut off while they are. */
const paused = `topology: { builder: star, hosts: 9, link: { rate: 100Gbps, delay: 1us } }
flows: [{ from: 0..7, to: 8, size: 400KB }]
switch: { buffer: 1MB, pauseThreshold: 20KB }
`

const simulationOf = async (text: string) => new ScenarioSimulation(await loadedScenario(text))
const textOf = (table: LinkTable, outcome: RunOutcome) => [...table.pieces(outcome)].join("")
const cellsOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(","))

/** A run with its table; its queues are sampled. */
const recorded = (run: ScenarioSimulation | Ns3Simulation) => {
  const recorder = new Recorder(run)
  const table = new LinkTable(run, recorder)
  const outcome = runToEnd(run)
  return { run, recorder, outcome, text: textOf(table, outcome) }
}

describe("links.csv", () => {
  it("has a line for each direction of each link", async () => {
    const { run, text } = recorded(await simulationOf(incast))
    expect(text.split("\n")[0]).toBe(HEADER)
    const { ports } = run.world
    expect(cellsOf(text).map((cells) => cells.slice(0, 4).map(Number))).toEqual(
      Array.from({ length: 18 }, (_, port) => [
        ports.node[port],
        ports.peerNode(port),
        ports.iface[port],
        ports.rateBps[port],
      ]),
    )
  })

  it("bytes and use are those of the report", async () => {
    const { outcome, recorder, text } = recorded(await simulationOf(incast))
    const rows = cellsOf(text)
    // 200 kB and 1 kB from each of eight hosts in packets of 1,090 B, and an acknowledgement of 88 B for each.
    const bytes = 201 * 1090
    const toReceiver = rows.find(([from, to]) => from === "9" && to === "8")!
    expect(toReceiver.slice(3, 7)).toEqual([
      "100000000000",
      String(8 * bytes),
      linkUse(8 * bytes, 100e9, outcome.simulatedPs).toFixed(6),
      "0",
    ])
    expect(rows.find(([from]) => from === "8")![4]).toBe(String(8 * 201 * 88))
    const page = reportPage({ title: "", input: "", ideal: "", outcome, recorder })
    const shown = [...page.matchAll(/<td[^>]*>(?:host|switch) (\d+) → (?:host|switch) (\d+)<\/td>(.*?)<\/tr>/g)]
    const used = shown.map(([, from, to, cells]) => [from, to, /([\d.]+) %/.exec(cells!)![1]])
    expect(used).toHaveLength(10)
    for (const [from, to, share] of used) {
      const row = rows.find((cells) => cells[0] === from && cells[1] === to)!
      expect((Number(row[5]) * 100).toFixed(2)).toBe(share)
    }
  })

  it("queues are those that were sampled", async () => {
    const { recorder, run, text } = recorded(await simulationOf(incast))
    const rows = cellsOf(text)
    for (const [port, cells] of rows.entries()) {
      if (run.world.ports.node[port] !== 9) {
        expect(cells.slice(7)).toEqual(["", "", ""])
        continue
      }
      const series = recorder.queues.seriesOf(port, 0, 0).sort()
      const ranks = [0.5, 0.99].map((share) => quantile(series, share, "nearest-rank"))
      expect(cells.slice(7).map(Number)).toEqual([...ranks, recorder.peakBytes[port]])
    }
    const longest = Math.max(...cellsOf(seriesCsv(recorder, "queue")).map((cells) => Number(cells[3])))
    expect(rows.find(([from, to]) => from === "9" && to === "8")![9]).toBe(String(longest))
  })

  it.each([["to the end"], ["stop: 50us"]])("pauses add up to the kernel's: %s", async (stop) => {
    const { outcome, recorder, run, text } = recorded(
      await simulationOf(stop.startsWith("stop") ? `${paused}${stop}` : paused),
    )
    const end = recorder.start + outcome.simulatedPs
    const times = cellsOf(text).map((cells) => Number(cells[6]))
    expect(outcome.pfcPauses).toBeGreaterThan(0)
    expect(times).toEqual(times.map((_, port) => recorder.pauses.paused(port, end)))
    expect(times.reduce((a, b) => a + b)).toBe(run.world.kernel.pauses.totalPs(end, recorder.start))
    expect(Math.max(...times)).toBeGreaterThan(0)
  })

  it("without a recorder all is the same but the queues, which are left empty", async () => {
    const { text } = recorded(await simulationOf(paused))
    const run = await simulationOf(paused)
    const table = new LinkTable(run)
    const alone = textOf(table, runToEnd(run))
    expect(alone).toBe(text.replace(/^(\d.*?)(,[^,\n]*){3}$/gm, "$1,,,"))
    expect(alone).not.toBe(text)
  })

  it("is the same from the same run, to the byte, by either kernel", async () => {
    const inputs = await loadedScenario(paused)
    const texts = (["fused", "fused", "exact"] as const).map(
      (kernel) => recorded(new ScenarioSimulation(inputs, { kernel })).text,
    )
    expect(new Set(texts).size).toBe(1)
  })

  it("of a config of the simulator too", () => {
    const { outcome, text } = recorded(new Ns3Simulation(referenceInputs("pfcdemo/timely.config.txt")))
    const rows = cellsOf(text)
    const total = rows.reduce((sum, cells) => sum + Number(cells[6]), 0)
    expect(total / (outcome.simulatedPs * rows.length)).toBeCloseTo(outcome.pfcPauseFraction, 12)
  })

  it("without flows: no time, and nothing used", async () => {
    const { text } = recorded(await simulationOf("topology: { builder: star, hosts: 2 }\nflows: []"))
    expect(cellsOf(text).map((cells) => cells.slice(4).join())).toEqual(Array(4).fill("0,,0,,,"))
  })
})
