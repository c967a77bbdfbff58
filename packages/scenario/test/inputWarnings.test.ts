/** What a run would note is warned of before it, where it is known by then. */
import { ScenarioSimulation } from "@rdmakit/scenario"
import { expect, it } from "vitest"
import { loadedScenario } from "./loading.ts"
import { runToEnd } from "./reference.ts"

const base = `topology: { builder: star, hosts: 4 }
flows: [{ from: 0..2, to: 3, size: 100KB }]
controller: { name: hpcc }
`
const warningsOf = async (overrides: ReadonlyArray<string>) => {
  const { notes } = await loadedScenario(base, overrides)
  return notes.map(({ line, kind, text }) => `${line} ${kind}: ${text}`)
}

it("a controller that goes without what it needs", async () => {
  const text = "controller hpcc/paper needs int, which packets of srd do not carry: it goes without"
  expect(await warningsOf(["transport.name=srd"])).toEqual([`3 warning: ${text}`])
  const inputs = await loadedScenario(base, ["transport.name=srd"])
  expect(runToEnd(new ScenarioSimulation(inputs)).notes).toContain(text)
  expect(await warningsOf([])).toEqual([])
})

it("a workload that draws no flow", async () => {
  const none = "flows+={ workload: poisson, sizes: WebSearch, load: 0.001, duration: 1us }"
  expect(await warningsOf([none])).toEqual(["0 warning: no flow is drawn: a longer duration or a higher load has some"])
})
