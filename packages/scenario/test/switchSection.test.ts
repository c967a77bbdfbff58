import { loadScenario, ScenarioSimulation, scenarioJsonSchema } from "@rdmakit/scenario"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const fits = new Ajv2020({ strict: true, allErrors: true }).compile(scenarioJsonSchema())

const attempt = async (text: string) => {
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
const faults = async (text: string) => {
  const result = await attempt(text)
  if (Result.isSuccess(result)) throw new Error("accepted")
  return result.failure.message
}

const fabric = `topology: { builder: leaf-spine, leaves: 2, spines: 4, hostsPerLeaf: 2 }
flows: [{ from: 0..1, to: 2..3, size: 300KB }]
`
const star = `topology: { builder: star, hosts: 4 }
flows: [{ from: 0..2, to: 3, size: 500KB }]
controller: { name: timely }
`

describe("load balancers by name", () => {
  it.each([
    ["ecmp", 0],
    ["flowlet, flowletGap: 50us", 0],
    ["adaptive-flowlet", 0],
    // Of packets that overtake each other, and of telemetry that is of another way each time.
    ["adaptive", 2],
    ["spray", 2],
    ["spray-hashed", 2],
    ["entropy", 0],
  ])("%s", async (loadBalancer, warnings) => {
    const inputs = await load(`${fabric}switch: { loadBalancer: ${loadBalancer} }`)
    expect(inputs.notes).toHaveLength(warnings)
    const outcome = runToEnd(new ScenarioSimulation(inputs))
    expect(outcome.flowsFinished).toBe(2)
    expect(runToEnd(new ScenarioSimulation(inputs)).digest).toBe(outcome.digest)
  })

  it("a warning where a transport that goes back N meets packets that overtake each other", async () => {
    const { notes } = await load(`${fabric}switch: { loadBalancer: spray }`)
    expect(notes[0]).toMatchObject({ file: "s.yaml", line: 3, column: 25, kind: "warning" })
    expect(notes[0]?.text).toContain("goes back N")
  })

  it.each([
    ["dcqcn", "go-back-n", ["goes back N"]],
    ["dcqcn", "selective-repeat", ["repeats selectively"]],
    ["hpcc", "selective-repeat", ["repeats selectively", "hpcc/paper compares the telemetry"]],
  ])("warnings for %s with %s where packets are sprayed", async (controller, recovery, texts) => {
    const rest = `controller: { name: ${controller} }\ntransport: { recovery: ${recovery} }\n`
    const { notes } = await load(`${fabric}${rest}switch: { loadBalancer: spray }`)
    expect(notes).toHaveLength(texts.length)
    for (const [index, text] of texts.entries()) expect(notes[index]?.text).toContain(text)
    expect((await load(`${star}switch: { loadBalancer: spray }`)).notes).toEqual([])
  })

  it("the first is right: sprayed, IRN sends again what is not lost", async () => {
    const load4 = (rest: string) =>
      run(`topology: { builder: leaf-spine, leaves: 2, spines: 4, hostsPerLeaf: 4, fabric: { rate: 100Gbps } }
flows: [{ workload: permutation, size: 1MB }]
transport: { recovery: selective-repeat }
${rest}`)
    const sprayed = await load4("switch: { loadBalancer: spray }")
    const oneWay = await load4("switch: { loadBalancer: ecmp }")
    expect(oneWay.retransmissions).toBe(0)
    expect(sprayed.dropsByReason).toEqual({})
    expect(sprayed.retransmissions).toBeGreaterThan(0)
  })
})

describe("thresholds", () => {
  it("a static pause threshold of one packet pauses early, one of the whole buffer never", async () => {
    const early = await run(`${star}switch: { pauseThreshold: 1KB }`)
    const never = await run(`${star}switch: { pauseThreshold: 16MiB }`)
    expect(early.pfcPauses).toBeGreaterThan(10)
    expect(never.pfcPauses).toBe(0)
    for (const outcome of [early, never]) expect(outcome).toMatchObject({ flowsFinished: 3, dropsByReason: {} })
  })

  it("a dynamic one: the smaller alpha, the sooner", async () => {
    const pauses = async (alpha: number) => (await run(`${star}switch: { pauseAlpha: ${alpha} }`)).pfcPauses
    expect(await pauses(0.0001)).toBeGreaterThan(10)
    expect(await pauses(8)).toBe(0)
  })

  it("lossy: what an egress queue may hold", async () => {
    const drops = async (fields: string) => (await run(`${star}switch: { lossless: false, ${fields} }`)).dropsByReason
    expect((await drops("egressThreshold: 50KB"))["egress-full"]).toBeGreaterThan(0)
    expect((await drops("egressAlpha: 0.001"))["egress-full"]).toBeGreaterThan(0)
    expect(await drops("egressThreshold: 16MiB")).toEqual({})
    expect(await drops("egressAlpha: 4")).toEqual({})
  })
})

describe("schedulers", () => {
  const contest = (scheduler: string) => `topology: { builder: star, hosts: 3 }
flows:
  - { from: 0, to: 2, size: 1MB, priority: 1 }
  - { from: 1, to: 2, size: 1MB, priority: 2 }
controller: { name: timely }
switch: { pauseThreshold: 2MB, ${scheduler} }
`
  /** Completion times, us: at 100 Gb/s a megabyte takes 84 us with its headers. */
  const times = async (scheduler: string) => {
    const { flows, flowsFinished } = await run(contest(scheduler))
    expect(flowsFinished).toBe(2)
    return [0, 1].map((flow) => flows.completionTime(flow) / 1e6) as [number, number]
  }

  it("strict: the higher priority goes first", async () => {
    const [low, high] = await times("scheduler: strict")
    expect(high).toBeLessThan(100)
    expect(low).toBeGreaterThan(160)
  })

  it("weighted: three bytes to one while both have some, whichever port says so", async () => {
    // The heavier has sent its megabyte when both together have sent 4/3 of one: 84 us * 4/3 = 112 us.
    for (const weights of [
      "weights: [3, 1, 1, 1, 1, 1, 1]",
      "portWeights: [{ from: 3, to: 2, weights: [3, 1, 1, 1, 1, 1, 1] }]",
    ]) {
      const [heavy, light] = await times(`scheduler: weighted, ${weights}`)
      expect(heavy).toBeGreaterThan(108)
      expect(heavy).toBeLessThan(118)
      expect(light).toBeGreaterThan(160)
    }
    // Another port's weights are no matter.
    for (const alike of [
      "weighted, portWeights: [{ from: 3, to: 0, weights: [3, 1, 1, 1, 1, 1, 1] }]",
      "round-robin",
    ]) {
      const [a, b] = await times(`scheduler: ${alike}`)
      expect(Math.abs(a - b)).toBeLessThan(4)
    }
  })
})

describe("a PFC watchdog", () => {
  const stuck = (more: string) => `topology: { builder: ring, switches: 5, hostsPerSwitch: 1 }
flows:
${[0, 1, 2, 3, 4].map((from) => `  - { from: ${from}, to: ${(from + 2) % 5}, size: 100KB }\n`).join("")}controller: { name: timely }
transport: { retryCount: 1000, ackTimeout: 1ms }
switch: { pauseThreshold: 5KB${more} }
`

  it("is off unless asked for: the ring comes to a deadlock, and the run says so", async () => {
    const outcome = await run(stuck(""))
    expect(outcome.watchdog).toBeNull()
    expect(outcome.flowsFinished).toBe(0)
    expect(outcome.notes[0]).toMatch(/^deadlock: PFC pauses priority 3 at ports that wait for each other: node 5/)
    for (const { reason } of outcome.unfinished) expect(reason).toMatch(/^paused by node/)
  })

  it.each(["drop", "forward"])("%s: the flows finish, and the summary counts what it did", async (action) => {
    const outcome = await run(stuck(`, watchdog: { detection: 300us, restoration: 100us, action: ${action} }`))
    expect(outcome.flowsFinished).toBe(5)
    expect(outcome.deadlock).toBeNull()
    expect(outcome.watchdog?.storms).toBeGreaterThan(0)
    expect((outcome.watchdog?.drained ?? 0) > 0).toBe(action === "drop")
  })
})

describe("what is refused", () => {
  it.each([
    [
      "spry",
      "{ loadBalancer: spry }",
      "expected ecmp or flowlet or adaptive or adaptive-flowlet or spray or spray-hashed or entropy",
    ],
    ["a gap of nothing", "{ loadBalancer: flowlet, flowletGap: 0 }", "a time above 0, such as 100us"],
    ["a gap without flowlets", "{ loadBalancer: spray, flowletGap: 1us }", "loadBalancer: flowlet or adaptive-flowlet"],
    ["a pause threshold without PFC", "{ lossless: false, pauseAlpha: 1 }", "see egressThreshold"],
    ["an egress threshold with PFC", "{ egressThreshold: 1MB }", "see pauseThreshold"],
    ["a watchdog without PFC", "{ lossless: false, watchdog: {} }", "without PFC nothing is paused"],
    ["an unknown action", "{ watchdog: { action: alert } }", "expected drop or forward"],
    ["both kinds", "{ pauseThreshold: 1MB, pauseAlpha: 1 }", "either pauseThreshold or pauseAlpha"],
    ["no alpha", "{ pauseAlpha: 0 }", "a number above 0, at most 1024"],
    ["weights without a scheduler", "{ weights: [1, 1, 1, 1, 1, 1, 1] }", "expected scheduler: weighted"],
    ["too few weights", "{ scheduler: weighted, weights: [1, 2] }", "7 numbers above 0"],
    [
      "weights of no port",
      "{ scheduler: weighted, portWeights: [{ from: 0, to: 1, weights: [1, 1, 1, 1, 1, 1, 1] }] }",
      "no link from 0 to 1",
    ],
  ])("%s", async (_name, section, message) => {
    expect(await faults(`${star}switch: ${section}`)).toContain(message)
  })
})

describe("routes that can deadlock", () => {
  const ring = (flows: string) => `topology: { builder: ring, switches: 5, hostsPerSwitch: 1 }\nflows: [${flows}]\n`
  const round = [0, 1, 2, 3, 4].map((from) => `{ from: ${from}, to: ${(from + 2) % 5}, size: 1KB, priority: 4 }`)
  const warnings = async (text: string) =>
    (await load(text)).notes.filter(({ kind }) => kind === "warning").map(({ line, text }) => `${line}: ${text}`)

  it("a ring of switches is warned of, with the cycle", async () => {
    expect(await warnings(ring(round.join(", ")))).toEqual([
      "1: the routes can deadlock: if PFC pauses priority 4 at all of these ports, each waits for the next: node 5 (port 2) -> node 6 (port 3) -> node 7 (port 3) -> node 8 (port 3) -> node 9 (port 3) -> node 5",
    ])
  })

  it("acknowledgements go back the same way: they count too", async () => {
    // Nobody sends data backwards, but with two priorities neither is complete.
    const mixed = round.map((flow, i) => (i === 2 ? flow.replace("priority: 4", "priority: 5") : flow))
    expect(await warnings(ring(mixed.join(", ")))).toEqual([])
    // 0 and 1 send forwards; 4 to 2, 0 to 3 and 1 to 4 backwards: their acknowledgements complete the round.
    const back = [
      round[0]!,
      round[1]!,
      ...[4, 0, 1].map((from) => `{ from: ${from}, to: ${(from + 3) % 5}, size: 1KB, priority: 4 }`),
    ]
    expect(await warnings(ring(back.join(", ")))).toHaveLength(1)
  })

  it("without PFC, and on a fat tree, there is nothing to warn of", async () => {
    expect(await warnings(`${ring(round.join(", "))}switch: { lossless: false }`)).toEqual([])
    const tree = "topology: { builder: fat-tree, k: 4 }\nflows: { workload: all-to-all, size: 1KB }\n"
    expect(await warnings(tree)).toEqual([])
  })
})

describe("headroom", () => {
  // 16 to 1: more comes after a pause than 100 bytes hold.
  const incast = (fields: string) => `topology: { builder: star, hosts: 17 }
flows: [{ from: 0..15, to: 16, size: 200KB }]
controller: { name: dcqcn }
switch: { buffer: 1MiB, ${fields} }`

  it("less than comes after a pause has a warning with what does, and drops", async () => {
    const inputs = await load(incast("headroom: 100"))
    // 2 · 1 us · 100 Gb/s, three frames of 1,048 bytes and the pause frame of 43.
    const text = "warning a link of 100Gbps and 1us brings 28187 bytes after a pause"
    expect(inputs.notes.map(({ kind, text: said }) => `${kind} ${said}`)).toEqual([expect.stringContaining(text)])
    expect(runToEnd(new ScenarioSimulation(inputs)).dropsByReason["ingress-full"]).toBeGreaterThan(0)
  })

  it("as much has none, and drops nothing", async () => {
    const inputs = await load(incast("headroom: 28187"))
    expect(inputs.notes).toEqual([])
    expect(runToEnd(new ScenarioSimulation(inputs)).dropsByReason).toEqual({})
    expect((await load(incast("headroom: 28186"))).notes).toHaveLength(1)
  })

  it("of a lossy switch none is asked for", async () => {
    expect((await load(incast("lossless: false, headroom: 100"))).notes).toEqual([])
  })
})
