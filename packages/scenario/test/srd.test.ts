import { readFileSync } from "node:fs"
import { loadScenario, type RunOutcome, type ScenarioInputs, ScenarioSimulation } from "@rdmakit/scenario"
import type { SrdEndpoint } from "@rdmakit/transport-srd"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const MS = 1e9

/** Of `examples/scenarios`, with values replaced as by `--set`. */
const example = (name: string, ...overrides: ReadonlyArray<string>): Promise<ScenarioInputs> => {
  const octets = readFileSync(new URL(`../../../examples/scenarios/${name}.yaml`, import.meta.url))
  const loaded = loadScenario(`${name}.yaml`, { workingDirectory: "/", octets, overrides })
  return Effect.runPromise(loaded.pipe(Effect.provide(memoryFiles({}))))
}

const completions = ({ flows }: RunOutcome): ReadonlyArray<number> =>
  Array.from({ length: flows.count }, (_, flow) => flows.completionTime(flow))

const sorted = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)

/** Bytes that arrived over each link from switch to switch, by sending and receiving node. */
const coreLoads = (inputs: ScenarioInputs, simulation: ScenarioSimulation): ReadonlyMap<string, number> => {
  const { world } = simulation
  const loads = new Map<string, number>()
  world.kernel.tracer = {
    received: (_now, port, packet) => {
      const [to, from] = [world.ports.node[port]!, world.ports.peerNode(port)]
      if (inputs.graph.isSwitch[to] === 0 || inputs.graph.isSwitch[from] === 0) return
      const name = `${from}-${to}`
      loads.set(name, (loads.get(name) ?? 0) + packet.wireBytes)
    },
    enqueued: () => {},
    dequeued: () => {},
  }
  return loads
}

describe("SRD, 48 flows into one port", () => {
  it("all end within 3 % of what the port takes for them, none before the others", async () => {
    const outcome = runToEnd(new ScenarioSimulation(await example("srd-incast")))
    const times = sorted(completions(outcome))
    // 48 · 2 MiB at 100 Gb/s: 8.05 ms of payload. The source's SRD takes 12, its mean is 8.22.
    expect(times.at(-1)! / MS).toBeLessThan(1.03 * 8.05)
    expect(times[0]! / MS).toBeGreaterThan(8.05)
    expect(outcome).toMatchObject({ unfinished: [], dropsByReason: {} })
  })

  it("that never end have 2 Gb/s each in every millisecond, within 5 %", async () => {
    const simulation = new ScenarioSimulation(await example("srd-incast", "flows.0.size=1GiB", "stop=12.5ms"))
    const { flows, endpoints } = simulation.world
    const before = new Float64Array(flows.count)
    const rates: Array<Array<number>> = Array.from({ length: flows.count }, () => [])
    let next = MS
    simulation.watch({
      get next() {
        return next
      },
      look: () => {
        for (let flow = 0; flow < flows.count; flow++) {
          const { bytesReceived } = endpoints.at(2 * flow + 1) as SrdEndpoint
          rates[flow]!.push(((bytesReceived - before[flow]!) * 8) / 1e6)
          before[flow] = bytesReceived
        }
        next += MS
      },
    })
    runToEnd(simulation)
    for (const ofFlow of rates) {
      const steady = ofFlow.slice(2)
      expect(steady.length).toBe(10)
      const mean = steady.reduce((sum, each) => sum + each, 0) / steady.length
      const deviation = Math.sqrt(steady.reduce((sum, each) => sum + (each - mean) ** 2, 0) / steady.length)
      // Gb/s; the fair share of 100 Gb/s is 2.08, headers included.
      expect(mean).toBeGreaterThan(2)
      expect(mean).toBeLessThan(2.08)
      expect(deviation / mean).toBeLessThan(0.05)
    }
  })
})

describe("SRD between racks", () => {
  it("with uplinks half used: all 128 messages near the ideal 2.68 ms; the source's median is 15 % above", async () => {
    const outcome = runToEnd(new ScenarioSimulation(await example("srd-racks")))
    const times = sorted(completions(outcome))
    expect(times[64]! / MS).toBeLessThan(1.15 * 2.684)
    expect(times.at(-1)! / MS).toBeLessThan(1.15 * 2.684)
    expect(outcome.dropsByReason).toEqual({})
  })

  it("one flow is as fast as its host, and no link of the core has 10 % more or less than another", async () => {
    // Four links of 50 Gb/s and 128 MiB, so that a test can have it; the example has sixteen and 1 GiB.
    const settings = ["topology.spines=4", "topology.fabric.rate=50Gbps", "flows.0.size=128MiB"]
    const inputs = await example("srd-spread", ...settings)
    const simulation = new ScenarioSimulation(inputs)
    const loads = coreLoads(inputs, simulation)
    const outcome = runToEnd(simulation)
    expect((2 ** 27 * 8e12) / outcome.simulatedPs / 100e9).toBeGreaterThan(0.92)
    // From leaf 4 up to four spines, and from there down to leaf 5; the other way go acknowledgements.
    const data = [...loads].filter(([name]) => name.startsWith("4-") || name.endsWith("-5")).map(([, bytes]) => bytes)
    expect(data).toHaveLength(8)
    const mean = data.reduce((sum, each) => sum + each, 0) / data.length
    for (const bytes of data) expect(Math.abs(bytes / mean - 1)).toBeLessThan(0.1)
  }, 30_000)

  /** Eight ways between two leaves, links of 25 Gb/s but those of some spines. */
  const uneven = (slowSpines: number, slowRate: string): ReadonlyArray<string> => {
    const rate = (spine: number): string => (spine < slowSpines ? slowRate : "25Gbps")
    const links = Array.from({ length: 8 }, (_, spine) => [
      { from: 2, to: 4 + spine, rate: rate(spine), delay: "1us" },
      { from: 4 + spine, to: 3, rate: rate(spine), delay: "1us" },
    ]).flat()
    for (const host of [0, 1]) links.push({ from: host, to: 2 + host, rate: "100Gbps", delay: "1us" })
    const topology = { nodes: 12, switches: Array.from({ length: 10 }, (_, i) => 2 + i), links }
    return [`topology=${JSON.stringify(topology)}`, "flows.0.size=32MiB", "flows.0.to=1"]
  }
  const goodput = async (overrides: ReadonlyArray<string>) => {
    const outcome = runToEnd(new ScenarioSimulation(await example("srd-spread", ...overrides)))
    expect(outcome).toMatchObject({ unfinished: [], dropsByReason: {} })
    return (2 ** 25 * 8e12) / outcome.simulatedPs / 100e9
  }

  it("one way that is slow is left, and not slowed down for", async () => {
    expect(await goodput(uneven(1, "1Gbps"))).toBeGreaterThan(0.92)
  })

  it("all ways slow: it slows down to what they carry, and no buffer runs over", async () => {
    // Eight ways of 8 Gb/s, which packets take by chance: with short queues some are idle while others are not.
    const share = await goodput(uneven(8, "8Gbps"))
    expect(share).toBeLessThan(0.64)
    expect(share).toBeGreaterThan(0.64 * 0.67)
  })
})

describe("SRD in trouble", () => {
  it("a link dies under load, and no message is late by a millisecond, a hundred before routes follow", async () => {
    const [dead, whole] = await Promise.all(
      [["faults.0.at=200us"], ["faults=[]"]].map(async (overrides) =>
        runToEnd(new ScenarioSimulation(await example("srd-dead-link", "flows.0.duration=800us", ...overrides))),
      ),
    )
    expect(dead!.dropsByReason["link-down"]).toBeGreaterThan(1000)
    expect(dead!.flowsFinished).toBe(dead!.flowsTotal)
    const before = completions(whole!)
    const delays = completions(dead!).map((time, flow) => time - before[flow]!)
    expect(Math.max(...delays) / MS).toBeLessThan(1)
  })

  it.each([
    ["12 µs", "1850ns", 0.01, 0.9],
    ["12 µs", "1850ns", 0.1, 0.5],
    ["100 µs", "16500ns", 0.01, 0.9],
    ["100 µs", "16500ns", 0.1, 0.5],
  ])("%s there and back, %s a link, %d lost: over %d of line rate", async (_rtt, delay, loss, least) => {
    const delays = [`topology.link.delay=${delay}`, `topology.bottleneck.delay=${delay}`]
    const inputs = await example("srd-loss", ...delays, `topology.bottleneck.loss=${loss}`)
    const outcome = runToEnd(new ScenarioSimulation(inputs))
    expect((2 ** 26 * 8e12) / outcome.simulatedPs / 100e9).toBeGreaterThan(least)
  })
})
