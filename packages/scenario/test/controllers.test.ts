import { controllers, loadScenario, ScenarioSimulation } from "@rdmakit/scenario"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

/** Eight hosts send to a ninth, and one of them a little more, later. */
const incast = (more: string) =>
  `topology: { builder: star, hosts: 9, link: { rate: 100Gbps, delay: 1us } }
flows: [{ from: 0..7, to: 8, size: 500KB }, { from: 0, to: 8, size: 20KB, start: 60us }]
${more}`

const load = (text: string) =>
  Effect.runPromise(
    loadScenario("s.yaml", { workingDirectory: "/", octets: new TextEncoder().encode(text) }).pipe(
      Effect.provide(memoryFiles({})),
    ),
  )

const run = async (more: string) => runToEnd(new ScenarioSimulation(await load(incast(more))))

describe("every controller by name", () => {
  const presets = [...controllers].flatMap(([name, named]) =>
    Object.keys(named.presets).map((preset) => [name, preset]),
  )

  it.each(presets)("%s, preset %s: flows finish, and the law ran", { timeout: 30_000 }, async (name, preset) => {
    const outcome = await run(`controller: { name: ${name}, preset: ${preset} }`)
    expect(outcome).toMatchObject({ flowsFinished: 9, unfinished: [] })
    expect(outcome.controller.split("/")[0]).toBe(name)
    // DCQCN by notifications goes without them in this network, which it notes.
    if (outcome.notes.length === 0) expect(outcome.controllerActions).toBeGreaterThan(0)
  })

  it("each has another digest", async () => {
    const digests = await Promise.all(
      ["dctcp", "hpcc", "hpcc-pint", "swift", "timely"].map(
        async (name) => (await run(`controller: { name: ${name} }`)).digest,
      ),
    )
    expect(new Set(digests).size).toBe(5)
  })
})

describe("options", () => {
  const name = async (section: string) => (await load(incast(`controller: ${section}`))).network.controller.name

  it("of variants, with units", async () => {
    expect(await name("{ name: dctcp, variant: paper, options: { maxWindowBytes: 1MB, start: slow-start } }")).toBe(
      "dctcp/paper",
    )
    expect(await name("{ name: hpcc-pint, preset: ns3-config, options: { additiveIncreaseBps: 40Mbps } }")).toBe(
      "hpcc-pint/ns3",
    )
    expect(await name("{ name: swift, options: { baseTargetPs: 30us, hops: 3, hopScalePs: 1us } }")).toBe("swift/paper")
  })

  it.each([
    ["{ name: dctcp, options: { g: 2 } }", /controller\.options\.g: .*a number, 0 to 1/],
    ["{ name: swift, options: { maxMdf: 1 } }", /controller\.options\.maxMdf: .*above 0, below 1/],
    ["{ name: hpcc-pint, options: { logBase: 1 } }", /controller\.options\.logBase: .*1 to 16 bits/],
    ["{ name: hpcc_pint }", /controller\.name: .*did you mean hpcc-pint\?/],
  ])("%s is refused", async (section, pattern) => {
    const error = await Effect.runPromise(
      Effect.flip(
        loadScenario("s.yaml", {
          workingDirectory: "/",
          octets: new TextEncoder().encode(incast(`controller: ${section}`)),
        }).pipe(Effect.provide(memoryFiles({}))),
      ),
    )
    expect(error.faults.map(({ message }) => message).join("\n")).toMatch(pattern)
  })
})

describe("marking for DCTCP", () => {
  const rule = (kilobytes: number) => `switch:
  ecnRules: [{ rate: 100Gbps, kmin: ${kilobytes}KB, kmax: ${kilobytes}KB, pmax: 1 }]`

  it("is a step at 30 KB for each 10 Gb/s, unless the scenario says otherwise", async () => {
    const dctcp = "controller: { name: dctcp }"
    const [unsaid, said, other] = await Promise.all([
      run(dctcp),
      run(`${dctcp}\n${rule(300)}`),
      run(`${dctcp}\n${rule(100)}`),
    ])
    expect(unsaid!.digest).toBe(said!.digest)
    expect(other!.digest).not.toBe(said!.digest)
  })
})
