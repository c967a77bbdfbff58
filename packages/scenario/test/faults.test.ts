import { loadScenario, ScenarioSimulation, scenarioJsonSchema } from "@rdmakit/scenario"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const fits = new Ajv2020({ strict: true, allErrors: true }).compile(scenarioJsonSchema())

const attempt = (text: string) => {
  const octets = new TextEncoder().encode(text)
  const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets })
  return Effect.runPromise(loaded.pipe(Effect.result, Effect.provide(memoryFiles({}))))
}
const load = async (text: string) => {
  const result = await attempt(text)
  if (Result.isFailure(result)) throw result.failure
  expect(fits(parse(text)), JSON.stringify(fits.errors)).toBe(true)
  return result.success
}
const run = async (text: string) => runToEnd(new ScenarioSimulation(await load(text)))
const refused = async (text: string) => {
  const result = await attempt(text)
  if (Result.isSuccess(result)) throw new Error("accepted")
  return result.failure.message
}

const star = `topology: { builder: star, hosts: 4 }
flows: [{ from: 0..2, to: 3, size: 200KB }]
`

describe("faults", () => {
  it("a link goes down and up: what was lost is sent again", async () => {
    const outcome = await run(`${star}transport: { ackTimeout: 100us }
faults:
  - { at: 10us, from: 3, to: 4, state: down }
  - { at: 150us, from: 3, to: 4, state: up }
`)
    expect(outcome).toMatchObject({ flowsFinished: 3, unfinished: [] })
    expect(outcome.dropsByReason["link-down"]).toBeGreaterThan(0)
  })

  it("for good: flows say that they have no route", async () => {
    const outcome = await run(`${star}faults: [{ at: 10us, from: 4, to: 3, state: down }]
transport: { ackTimeout: 100us }
`)
    expect(outcome.flowsFinished).toBe(0)
    expect(outcome.unfinished[0]?.reason).toMatch(/^no route from node 0 to node 3: no acknowledgement of packet/)
  })

  it("a rate of loss from a time on", async () => {
    const outcome = await run(`${star}faults: [{ at: 5us, from: 4, to: 3, loss: 0.02 }]
transport: { ackTimeout: 100us }
`)
    expect(outcome.flowsFinished).toBe(3)
    expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(0)
  })

  it("routes follow when they have converged: a flow over the dead spine waits so long, SRD leaves it", async () => {
    const spines = (
      convergence: string,
      rest: string,
    ) => `topology: { builder: leaf-spine, leaves: 2, spines: 2, hostsPerLeaf: 4 }
flows: [{ from: 0..3, to: 4..7, size: 1MB }]
faults: [{ at: 20us, from: 8, to: 10, state: down }]
${convergence}
${rest}`
    const rc = "transport: { ackTimeout: 100us }"
    const srd = "transport: { name: srd }\nswitch: { lossless: false }"
    const at = async (convergence: string, rest: string) => (await run(spines(convergence, rest))).simulatedPs
    expect(await at("", rc)).toBeLessThan(1e9)
    expect(await at("convergence: 2ms", rc)).toBeGreaterThan(2e9)
    expect(await at("convergence: 2ms", srd)).toBeLessThan(1e9)
  })

  it("of links that are none, or of nothing, are refused", async () => {
    expect(await refused(`${star}faults: [{ at: 5us, from: 0, to: 1, state: down }]`)).toMatch(
      /faults\[0\]: .*expected two nodes that a link joins; the topology has no link from 0 to 1/,
    )
    expect(await refused(`${star}faults: [{ at: 5us, from: 0, to: 4 }]`)).toMatch(
      /faults\[0\]: .*expected state: down or up, or loss: a share/,
    )
    expect(await refused(`${star}faults: [{ at: 5us, from: 0, to: 4, loss: 2 }]`)).toMatch(/faults\[0\].loss/)
  })
})

describe("recovery", () => {
  const lossy = "switch: { lossless: false, egressThreshold: 50KB }\n"

  it("selective repeat, without PFC", async () => {
    const again = async (recovery: string) => await run(`${star}${lossy}transport: { recovery: ${recovery} }`)
    const [all, selective] = [await again("go-back-n"), await again("selective-repeat")]
    expect(selective).toMatchObject({ flowsFinished: 3, unfinished: [], pfcPauses: 0 })
    expect(selective.retransmissions).toBeLessThan(all.retransmissions)
  })

  it("has options of its own, and bears packets that overtake each other", async () => {
    const inputs = await load(`${star}switch: { loadBalancer: spray }
transport:
  recovery: selective-repeat
  bdpPackets: 30
  reorderPackets: 64
  ackTimeout: 50us
  ackTimeoutHigh: 200us
  ackTimeoutFewPackets: 2
`)
    expect(inputs.notes).toEqual([])
    expect(runToEnd(new ScenarioSimulation(inputs)).flowsFinished).toBe(3)
  })

  it("beside go-back-0, with parts of a message, and timeouts alone: each loses more time than the one before", async () => {
    const text = (rest: string) => `${star}${lossy}transport: { mtu: 1000, ackTimeout: 1ms, ${rest} }`
    const kinds = ["recovery: go-back-n", "recovery: go-back-0, restartSize: 100KB", "recovery: timeout"]
    const outcomes = []
    for (const kind of kinds) outcomes.push(await run(text(kind)))
    expect(outcomes.map(({ flowsFinished }) => flowsFinished)).toEqual([3, 3, 3])
    const [some, more, most] = outcomes.map(({ simulatedPs }) => simulatedPs)
    expect(more).toBeGreaterThan(some!)
    expect(most).toBeGreaterThan(more!)
    expect(await refused(text("restartSize: 100KB"))).toMatch(/restartSize.*given with go-back-0 alone/)
    expect(await refused(text("recovery: go-back-0, restartSize: 1500"))).toMatch(/a multiple of mtu, 1000/)
    expect(await refused(text("recovery: go-back-0, bdpPackets: 3"))).toMatch(/go-back-0 limits neither/)
  })

  it("whose options contradict each other is refused", async () => {
    expect(await refused(`${star}transport: { bdpPackets: 10 }`)).toMatch(
      /transport.bdpPackets: found "10", expected recovery: selective-repeat/,
    )
    const selective = (rest: string) => refused(`${star}transport: { recovery: selective-repeat, ${rest} }`)
    expect(await selective("bdpPackets: 10, reorderPackets: 5")).toMatch(/bdpPackets: .*at most reorderPackets, 5/)
    expect(await selective("bdpPackets: 3000")).toMatch(/bdpPackets: .*at most reorderPackets, 2048/)
    expect(await selective("ackTimeout: 1ms, ackTimeoutHigh: 1us")).toMatch(
      /ackTimeoutHigh: .*at least ackTimeout(?!Ps)/,
    )
    expect(await selective("ackTimeoutHigh: 50us")).toMatch(/ackTimeoutHigh: .*ackTimeout is 100us unless it is given/)
  })
})
