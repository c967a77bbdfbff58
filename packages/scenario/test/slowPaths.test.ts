import { loadScenario, ScenarioSimulation } from "@rdmakit/scenario"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const load = (rate: string, rest: string) => {
  const text = `topology: { builder: star, hosts: 3, link: { rate: ${rate}, delay: 1us } }
flows: [{ from: 0..1, to: 2, size: 20KB }]
${rest}`
  const octets = new TextEncoder().encode(text)
  const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets })
  return Effect.runPromise(loaded.pipe(Effect.provide(memoryFiles({}))))
}
const warnings = async (rate: string, rest: string) =>
  (await load(rate, rest)).notes.map(({ kind, line, column, text }) => `${kind} ${line}:${column} ${text}`)

describe("a controller that goes by delay, on slow links", () => {
  it("is warned of where an idle network takes longer than it aims at", async () => {
    // 1,048 and 60 bytes over two links, and 4 µs: 181.28 µs at 100 Mb/s. Swift aims at 25 µs and, at the smallest
    // window, at 125 more. It ends at 0.01 packets a round trip.
    const [warning, ...others] = await warnings("100Mbps", "controller: { name: swift, preset: testbed }")
    expect(others).toEqual([])
    expect(warning).toMatch(/^warning 3:13 swift\/paper takes an idle network for a congested one/)
    expect(warning).toContain("take 181.28us")
    expect(warning).toContain(`falls to ${Number(((0.01 * 8000) / 181.28e-6 / 1e3).toPrecision(2))}kbps of 100Mbps`)
  })

  it("is right: the flow alone takes as long as the warning says, and not with a longer target", async () => {
    const alone = async (rest: string) => {
      const inputs = await load("100Mbps", rest)
      const flows = inputs.flows.slice(0, 1)
      return runToEnd(new ScenarioSimulation({ ...inputs, flows })).flows.completionTime(0)
    }
    const starved = await alone("controller: { name: swift, preset: testbed }")
    const longer = "controller: { name: swift, options: { baseTargetPs: 400us } }"
    expect(await warnings("100Mbps", longer)).toEqual([])
    expect(starved).toBeGreaterThan(10 * (await alone(longer)))
  })

  it.each([
    ["swift", "100Gbps"],
    ["swift", "1Gbps"],
    ["timely", "1Mbps"],
    ["dcqcn", "1Mbps"],
    ["hpcc", "1Mbps"],
    // A window grows with what is acknowledged: within so few round trips it does not fill such a line.
    ["cubic", "100Gbps"],
    ["newreno", "100Gbps"],
    ["dctcp", "100Gbps"],
  ])("none for %s at %s", async (name, rate) => {
    expect(await warnings(rate, `controller: { name: ${name} }`)).toEqual([])
  })
})

describe("timeouts", () => {
  it("a warning for those that are over before an acknowledgement can have come", async () => {
    const selective = "transport: { recovery: selective-repeat, ackTimeout: 1ms, ackTimeoutHigh: 10ms }"
    const found = await warnings("1Mbps", `controller: { name: timely }\n${selective}`)
    expect(found).toHaveLength(2)
    expect(found[0]).toMatch(/^warning 4:54 1ms are over before .* an idle network, which takes 17.732ms/)
    expect(found[1]).toMatch(/^warning 4:75 10ms are over/)
    expect(await warnings("1Gbps", selective)).toEqual([])
  })

  it("by default they follow the links: DCQCN over 1 Mb/s sends nothing twice", async () => {
    const outcome = runToEnd(new ScenarioSimulation(await load("1Mbps", "controller: { name: dcqcn, preset: vendor }")))
    expect(outcome).toMatchObject({ flowsFinished: 2, retransmissions: 0 })
  })
})
