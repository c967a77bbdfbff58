import { fairnessByHost, loadScenario, Recorder, ScenarioSimulation, seriesCsv } from "@rdmakit/scenario"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const recorded = async (scenario: object, kernel: "exact" | "fused" = "fused") => {
  const octets = new TextEncoder().encode(JSON.stringify(scenario))
  const loaded = loadScenario("s.json", { workingDirectory: "/", octets })
  const run = new ScenarioSimulation(await Effect.runPromise(Effect.provide(loaded, memoryFiles({}))), { kernel })
  const recorder = new Recorder(run)
  runToEnd(run)
  return recorder
}

const to = (size: string, ...senders: ReadonlyArray<number>) => senders.map((from) => ({ from, to: 0, size }))
/** Hosts with a link to each of two switches. */
const testbed = { topology: { builder: "hpcc-testbed" }, controller: { name: "hpcc" } }

/** Lines of `fairness.csv`, its header apart. */
const linesOf = (recorder: Recorder) => {
  const [header, ...lines] = seriesCsv(recorder, "fairness").trimEnd().split("\n")
  expect(header).toBe("time_ps,host,interface,priority,flows,jain_index")
  return lines.map((line) => line.split(","))
}

it("a host with two links: flows are compared with those that came by the same one", async () => {
  const recorder = await recorded({ ...testbed, flows: to("2MB", 1, 2, 3) })
  // Two of them share a link, the third has the other to itself and twice the rate: that is fair.
  const [shared, ...others] = fairnessByHost(recorder)
  expect(others).toEqual([])
  expect(shared).toMatchObject({ host: 0, flows: 2 })
  expect(shared!.meanIndex).toBeGreaterThan(0.97)
  expect(shared!.convergencePs).not.toBeNull()
  // The link is the one that carried twice as much.
  const { kernel, ports } = recorder.world
  const sent = [...ports.portsOf(0)].map((port) => kernel.sentBytes(ports.peer(port)))
  expect(sent[shared!.interface! - 1]).toBe(2 * Math.min(...sent))
  expect(new Set(linesOf(recorder).map((cells) => cells.slice(1, 5).join()))).toEqual(
    new Set([`0,${shared!.interface},3,2`]),
  )
})

it("a host with two links, and packets that take either: nothing is said", async () => {
  const recorder = await recorded({ ...testbed, transport: { name: "srd" }, flows: to("200kB", 20, 21, 22) })
  expect(recorder.flows.rows).toBeGreaterThan(0)
  expect(fairnessByHost(recorder)).toEqual([])
  expect(linesOf(recorder)).toEqual([])
})

it("the series has the mean and the least that are told, whichever kernel ran", async () => {
  const star = { topology: { builder: "star", hosts: 5 }, controller: { name: "dcqcn" } }
  const flows = [...to("300kB", 1, 2, 3), { from: 4, to: 0, size: "100kB", start: "20us" }]
  const [fused, exact] = [await recorded({ ...star, flows }), await recorded({ ...star, flows }, "exact")]
  expect(fairnessByHost(exact)).toEqual(fairnessByHost(fused))
  expect(seriesCsv(exact, "fairness")).toBe(seriesCsv(fused, "fairness"))
  const [told] = fairnessByHost(fused)
  const indices = linesOf(fused).map((cells) => Number(cells[5]))
  expect(told).toMatchObject({ host: 0, interface: null, flows: 4, samples: indices.length })
  expect(indices.reduce((sum, index) => sum + index) / indices.length).toBeCloseTo(told!.meanIndex, 5)
  expect(Math.min(...indices)).toBeCloseTo(told!.leastIndex, 5)
  expect(told!.leastIndex).toBeGreaterThanOrEqual(1 / 4)
})
