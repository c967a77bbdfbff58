import { flowsCsv, loadScenario, ScenarioSimulation, slowdownByWorkload, slowdownRows } from "@rdmakit/scenario"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const outcomeOf = async (flows: unknown) => {
  const scenario = { topology: { builder: "star", hosts: 12 }, controller: { name: "hpcc" }, flows }
  const octets = new TextEncoder().encode(JSON.stringify(scenario))
  const loaded = loadScenario("star.json", { workingDirectory: "/", octets })
  return runToEnd(new ScenarioSimulation(await Effect.runPromise(Effect.provide(loaded, memoryFiles({})))))
}

const background = { workload: "poisson", load: 0.2, sizes: "FB_Hadoop", duration: "200us", hosts: [0, 1, 2, 3] }
const burst = { workload: "incast", senders: [4, 5, 6, 7, 8, 9], receiver: 10, size: "200kB" }
const one = { from: 11, to: 0, size: "1kB", start: "50us" }

it("slowdowns are parted by workload, and each flow says what it is part of", async () => {
  const outcome = await outcomeOf([background, burst, one])
  const parts = slowdownByWorkload(outcome)
  expect(parts.map(({ workload }) => workload)).toEqual(["flows[0] poisson", "flows[1] incast", "listed"])
  const [poisson, incast, listed] = parts
  expect([incast!.flows, listed!.flows, poisson!.flows]).toEqual([6, 1, outcome.flowsTotal - 7])
  expect(poisson!.flows).toBeGreaterThan(10)
  // Six senders share one link: the last of them takes about six times as long as alone; the others hardly wait.
  const worst = (rows: ReadonlyArray<{ readonly p99: number }>): number => rows.at(-1)!.p99
  expect(worst(incast!.rows)).toBeGreaterThan(5)
  expect(worst(listed!.rows)).toBeLessThan(2)
  const counts = parts.map(({ rows }) => rows.at(-1)!.count)
  expect(counts.reduce((sum, count) => sum + count)).toBe(slowdownRows(outcome).at(-1)!.count)
  const lines = flowsCsv(outcome).trimEnd().split("\n")
  expect(lines[0]!.endsWith(",reason,workload")).toBe(true)
  const ofBurst = lines.filter((line) => line.endsWith(',"flows[1] incast"'))
  expect(ofBurst.map((line) => line.split(",")[2])).toEqual(Array.from({ length: 6 }, () => "10"))
})

it.each([
  ["one workload", [background]],
  ["flows that are written one by one", [one, { ...one, to: 1 }]],
])("%s: nothing is parted", async (_, flows) => {
  const outcome = await outcomeOf(flows)
  expect(slowdownByWorkload(outcome)).toEqual([])
  expect(outcome.flows.workloads).toEqual([""])
  expect(flowsCsv(outcome).trimEnd().split("\n")[1]!.endsWith(",finished,,")).toBe(true)
})
