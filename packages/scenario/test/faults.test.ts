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
    const at = async (convergence: string, rest: string) => {
      const outcome = await run(spines(convergence, rest))
      expect(outcome.unfinished).toEqual([])
      return outcome.simulatedPs
    }
    // Shorter than the eight timeouts after which a flow gives up.
    const waits = "convergence: 600us"
    expect(await at("", rc)).toBeLessThan(600e6)
    expect(await at(waits, rc)).toBeGreaterThan(620e6)
    expect(await at(waits, srd)).toBeLessThan(600e6)
  })

  it("of links that are none, or of nothing, are refused", async () => {
    expect(await refused(`${star}faults: [{ at: 5us, from: 0, to: 1, state: down }]`)).toMatch(
      /faults\[0\]: .*expected two nodes that a link joins; the topology has no link from 0 to 1/,
    )
    expect(await refused(`${star}faults: [{ at: 5us, from: 0, to: 4 }]`)).toMatch(
      /faults\[0\]: .*expected one of state, loss, .*, blackHole, or host and receive/,
    )
    expect(await refused(`${star}faults: [{ at: 5us, from: 0, to: 4, loss: 2 }]`)).toMatch(/faults\[0\].loss/)
  })
})

describe("faults in time", () => {
  const eventsOf = async (entries: string, rest = "") =>
    (await load(`${star}${rest}faults: [${entries}]`)).network.faults ?? []
  const US = 1e6

  it("last as long as they are told, and come again", async () => {
    expect(await eventsOf("{ at: 10us, for: 5us, from: 4, to: 3, state: down, every: 20us, times: 3 }")).toEqual(
      [10, 15, 30, 35, 50, 55].map((at, index) => ({
        time: at * US,
        link: 3,
        direction: "both",
        up: index % 2 === 1,
      })),
    )
  })

  it("of several kinds are undone together", async () => {
    const entry = "at: 1us, for: 1us, from: 0, to: 4, loss: 0.1, corruption: 0.2, blackHole: 0.3, jitter: 2us"
    const both = await eventsOf(`{ ${entry}, duplication: 0.4, reordering: 0.5, reorderBy: 3us }`)
    expect(both).toEqual([
      {
        time: US,
        link: 0,
        direction: "both",
        lossRate: 0.1,
        impairment: {
          blackHole: 0.3,
          corruption: 0.2,
          duplication: 0.4,
          reordering: 0.5,
          reorderPs: 3 * US,
          delayPs: [0, 2 * US],
        },
      },
      {
        time: 2 * US,
        link: 0,
        direction: "both",
        lossRate: 0,
        impairment: { blackHole: 0, corruption: 0, duplication: 0, reordering: 0, delayPs: [0, 0] },
      },
    ])
  })

  it("of one direction go from the first node to the second", async () => {
    const of = async (places: string) =>
      (await eventsOf(`{ at: 0, ${places}, direction: forward, blackHole: 1 }`)).map((event) => ({ ...event }))
    expect(await of("from: 0, to: 4")).toMatchObject([{ link: 0, direction: "forward" }])
    expect(await of("from: 4, to: 0")).toMatchObject([{ link: 0, direction: "backward" }])
  })

  it("at random are drawn by the seed: when, and which links", async () => {
    const entry = "{ at: 10us, within: 50us, for: 2us, links: hosts, random: 2, state: down, every: 100us, times: 20 }"
    const events = await eventsOf(entry, "seed: 3\n")
    expect(events).toEqual(await eventsOf(entry, "seed: 3\n"))
    expect(events).not.toEqual(await eventsOf(entry, "seed: 4\n"))
    expect(events.length).toBe(80)
    const begins = events.filter((event) => "link" in event && event.up === false)
    for (let turn = 0; turn < 20; turn++) {
      const own = begins.filter(({ time }) => Math.floor(time / (100 * US)) === turn)
      const links = own.map((event) => ("link" in event ? event.link : -1))
      expect(new Set(links).size).toBe(2)
      for (const { time } of own) {
        expect(time - turn * 100 * US).toBeGreaterThanOrEqual(10 * US)
        expect(time - turn * 100 * US).toBeLessThan(60 * US)
      }
    }
    expect(new Set(begins.map((event) => ("link" in event ? event.link : -1))).size).toBe(4)
  })

  it("of links by what they join", async () => {
    const spines = (links: string) =>
      load(`topology: { builder: leaf-spine, leaves: 2, spines: 3, hostsPerLeaf: 2 }
flows: [{ from: 0, to: 3, size: 1KB }]
faults: [{ at: 0, links: ${links}, loss: 0.1 }]
`)
    const count = async (links: string) => (await spines(links)).network.faults!.length
    expect([await count("all"), await count("hosts"), await count("switches")]).toEqual([10, 4, 6])
  })

  it("slow hosts down, which pause their switch or lose packets as it is lossless or not", async () => {
    const stall = "{ at: 10us, for: 300us, host: 2..3, receive: stall, buffer: 64KiB }"
    const events = await eventsOf(stall)
    expect(events).toEqual([
      { time: 10 * US, host: 2, receiver: { rateBps: 0, bufferBytes: 65_536, pauses: true } },
      { time: 10 * US, host: 3, receiver: { rateBps: 0, bufferBytes: 65_536, pauses: true } },
      { time: 310 * US, host: 2, receiver: undefined },
      { time: 310 * US, host: 3, receiver: undefined },
    ])
    const outcome = await run(`${star}faults: [${stall}]\n`)
    expect(outcome).toMatchObject({ flowsFinished: 3, unfinished: [], dropsByReason: {} })
    expect(outcome.simulatedPs).toBeGreaterThan(310 * US)
    const lossy = await run(`${star}switch: { lossless: false }
transport: { ackTimeout: 100us }
faults: [${stall}]
`)
    expect(lossy.flowsFinished).toBe(3)
    expect(lossy.dropsByReason["receiver-overflow"]).toBeGreaterThan(0)
  })

  it("swallow packets while routes think the link sound", async () => {
    const outcome = await run(`${star}transport: { ackTimeout: 100us, retryCount: 1 }
faults: [{ at: 5us, from: 4, to: 3, direction: forward, blackHole: 1 }]
`)
    expect(outcome.flowsFinished).toBe(0)
    expect(outcome.unfinished[0]!.reason).toMatch(/^no acknowledgement of packet \d+ after 2 timeouts$/)
    expect(outcome.dropsByReason["black-hole"]).toBeGreaterThan(10)
  })

  it("whose fields do not go together are refused, each in its place", async () => {
    const of = (entry: string) => refused(`${star}faults: [{ at: 0, ${entry} }]`)
    const down = "state: down"
    expect(await of(`from: 0, to: 4, ${down}, every: 1us`)).toMatch(/faults\[0\].every: .*expected times with it/)
    expect(await of(`from: 0, to: 4, ${down}, times: 2`)).toMatch(/times: .*expected every with it/)
    expect(await of(`from: 0, to: 4, ${down}, every: 1us, times: 2, for: 2us`)).toMatch(/for: .*at most every/)
    expect(await of(`from: 0, to: 4, ${down}, random: 2`)).toMatch(/random: .*expected links with it/)
    expect(await of(`links: hosts, ${down}, random: 5`)).toMatch(/random: .*5.*expected at most 4, for so many links/)
    expect(await of(`from: 0, to: 4, ${down}, direction: forward`)).toMatch(/direction: .*a link goes down both ways/)
    expect(await of(`from: 0, to: 4, links: all, ${down}`)).toMatch(/links: .*either this field or from and to/)
    expect(await of(down)).toMatch(/expected from and to, or links, or host/)
    expect(await of("host: 3")).toMatch(/host: .*expected receive with it/)
    expect(await of("host: 3, receive: 1Gbps, loss: 0.1")).toMatch(/loss: .*either this field or host/)
    expect(await of("host: 4, receive: stall")).toMatch(/host: .*expected hosts; node 4 is a switch/)
    expect(await of("host: 9, receive: stall")).toMatch(/host: .*the topology has 5 nodes/)
    expect(await of("host: 3, receive: slow")).toMatch(/receive: .*expected a rate such as 10Gbps, or stall/)
    expect(await of("from: 0, to: 4, blackHole: 2")).toMatch(/blackHole: .*expected a number 0..1/)
    const many = "links: all, loss: 0, every: 1ns, times: 100000"
    expect(
      await refused(`topology: { builder: star, hosts: 20 }
flows: [{ from: 0, to: 1, size: 1KB }]
faults: [{ at: 0, ${many} }]`),
    ).toMatch(/times: .*at most 1000000 happenings/)
  })

  it("can be added by an override", async () => {
    const octets = new TextEncoder().encode(`${star}faults: [{ at: 0, from: 0, to: 4, loss: 0.1 }]`)
    const overrides = ["faults+={ at: 1us, host: 3, receive: 10Gbps }", "faults+={ at: 2us, links: hosts, loss: 0 }"]
    const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets, overrides })
    const { network } = await Effect.runPromise(loaded.pipe(Effect.provide(memoryFiles({}))))
    expect(network.faults!.map(({ time }) => time)).toEqual([0, US, 2 * US, 2 * US, 2 * US, 2 * US])
    const wrong = (override: string) =>
      Effect.runPromise(
        loadScenario("s.yaml", { workingDirectory: "/", octets, overrides: [override] }).pipe(
          Effect.flip,
          Effect.provide(memoryFiles({})),
        ),
      )
    expect((await wrong("faults+={ at: 1us, host: 4, receive: stall }")).message).toMatch(/--set.*node 4 is a switch/)
    expect((await wrong("topology+=3")).message).toMatch(/expected the path of a list/)
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
