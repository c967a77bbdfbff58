import { readFileSync } from "node:fs"
import { loadScenario, ScenarioSimulation } from "@rdmakit/scenario"
import { hostLoadBps, poissonFlows, webSearch } from "@rdmakit/workload"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const attempt = (text: string, overrides: ReadonlyArray<string> = [], files: Readonly<Record<string, string>> = {}) =>
  Effect.runPromise(
    loadScenario("s.yaml", { workingDirectory: "/", overrides }).pipe(
      Effect.result,
      Effect.provide(memoryFiles({ "/s.yaml": text, ...files })),
    ),
  )
const load = async (...args: Parameters<typeof attempt>) => {
  const result = await attempt(...args)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}
const faults = async (...args: Parameters<typeof attempt>) => {
  const result = await attempt(...args)
  if (Result.isSuccess(result)) throw new Error("accepted")
  return result.failure.faults.map(({ message }) => message)
}

const star = "topology: { builder: star, hosts: 8, link: { rate: 100Gbps } }\n"
const poisson = "{ workload: poisson, load: 0.3, sizes: WebSearch, duration: 1ms }"
const bytes = (flows: ReadonlyArray<{ readonly bytes: number }>): number =>
  flows.reduce((sum, flow) => sum + flow.bytes, 0)

describe("workloads", () => {
  it("Poisson flows, from the scenario's seed", async () => {
    const { flows } = await load(`${star}seed: 7\nflows: [${poisson}]`)
    const made = poissonFlows({
      hosts: [0, 1, 2, 3, 4, 5, 6, 7],
      sizes: webSearch,
      payloadBps: hostLoadBps(0.3, 100e9),
      durationPs: 1e9,
      seed: 7,
    })
    expect(made.length).toBeGreaterThan(5)
    expect(flows.map(({ source, destination, bytes, start }) => [source, destination, bytes, start])).toEqual(
      made.map(({ source, destination, sizeBytes, startPs }) => [source, destination, sizeBytes, startPs]),
    )
    expect(flows[0]).toMatchObject({ priority: 3, destinationPort: 100 })
    // One workload needs no list.
    expect((await load(`${star}seed: 7\nflows: ${poisson}`)).flows).toEqual(flows)
    expect((await load(`${star}flows: [${poisson}]`, ["seed=7"])).flows).toEqual(flows)
    expect((await load(`${star}flows: [${poisson}]`, ["flows.0.seed=7"])).flows).toEqual(flows)
    expect((await load(`${star}flows: [${poisson}]`)).flows).not.toEqual(flows)
  })

  it("two of the same are not the same flows", async () => {
    const { flows } = await load(`${star}flows: [${poisson}, ${poisson}]`)
    expect(new Set(flows.map(({ start }) => start)).size).toBeGreaterThan(flows.length / 2 + 1)
  })

  it("a load of the hosts counts all of their links; one of the bisection what crosses it", async () => {
    const testbed = "topology: { builder: hpcc-testbed }\n"
    const flows = "flows: [{ workload: poisson, load: 0.5, size: 10KB, duration: 20ms }]"
    // 32 hosts, 50 Gb/s each: 32 · 25 Gb/s · 20 ms = 2 GB.
    const hosts = await load(testbed + flows)
    expect(bytes(hosts.flows) / 2e9).toBeCloseTo(1, 1)
    // 200 Gb/s cross it: 0.5 · 200 · 31 / (16 · 16) = 12.1 Gb/s a host, 32 · 12.1 · 20 ms = 969 MB.
    const bisection = await load(testbed + flows, ["flows.0.of=bisection"])
    expect(bytes(bisection.flows) / 968.75e6).toBeCloseTo(1, 1)
    const named = await load(testbed + flows, ["flows.0.of=bisection", "flows.0.bisection=100Gbps"])
    expect(bytes(named.flows) / 484.4e6).toBeCloseTo(1, 1)
  })

  it("sizes: a name in any spelling, points, a file, one size", async () => {
    const sizes = async (value: string, files: Readonly<Record<string, string>> = {}) => {
      const { flows } = await load(`${star}flows: [{ workload: permutation, sizes: ${value} }]`, [], files)
      return flows.map(({ bytes }) => bytes)
    }
    expect(await sizes("web-search")).toEqual(await sizes("WebSearch"))
    expect(await sizes("fbhadoop")).toEqual(await sizes("FB_Hadoop"))
    expect(await sizes("[[5, 0], [5, 100]]")).toEqual(new Array(8).fill(5))
    expect(await sizes("{ file: mine.txt }", { "/mine.txt": "7 0\n7 100\n" })).toEqual(new Array(8).fill(7))
    const { flows } = await load(`${star}flows: [{ workload: ring, size: 1KiB }]`)
    expect(flows.map(({ source, destination, bytes }) => [source, destination, bytes])).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((host) => [host, (host + 1) % 8, 1024]),
    )
  })

  it("incasts: drawn, named, at random moments", async () => {
    const one = await load(`${star}flows: [{ workload: incast, fanIn: 4, size: 1KB, start: 2us }]`)
    expect(new Set(one.flows.map(({ destination }) => destination)).size).toBe(1)
    expect(new Set(one.flows.map(({ source }) => source)).size).toBe(4)
    expect(one.flows[0]).toMatchObject({ start: 2e6, destinationPort: 200 })
    const named = await load(`${star}flows: [{ workload: incast, senders: 0..2, receiver: 7, size: 1KB }]`)
    expect(named.flows.map(({ source, destination }) => [source, destination])).toEqual([
      [0, 7],
      [1, 7],
      [2, 7],
    ])
    // One in 4 · 500 KB · 8 / (0.02 · 800 Gb/s) = 1 ms.
    const random = await load(
      `${star}flows: [{ workload: random-incast, fanIn: 4, size: 500KB, load: 0.02, duration: 100ms, jitter: 10us }]`,
    )
    expect(Math.abs(random.flows.length / 4 - 100)).toBeLessThan(30)
  })

  it("some hosts, rounds, gaps, priorities, and flows of one's own beside", async () => {
    const { flows } = await load(
      `${star}flows:
  - { workload: all-to-all, hosts: 2..4, size: 1KB, gap: 5us, priority: 5 }
  - { from: 0, to: 1, size: 9, start: 5us }
  - { workload: ring, hosts: 6..7, size: 2KB, rounds: 2, gap: 5us, start: 5us }`,
    )
    const seen = flows.map(({ source, destination, bytes, start }) => [source, destination, bytes, start / 1e6])
    expect(seen).toEqual([
      [2, 3, 1000, 0],
      [3, 4, 1000, 0],
      [4, 2, 1000, 0],
      [2, 4, 1000, 5],
      [3, 2, 1000, 5],
      [4, 3, 1000, 5],
      [0, 1, 9, 5],
      [6, 7, 2000, 5],
      [7, 6, 2000, 5],
      [6, 7, 2000, 10],
      [7, 6, 2000, 10],
    ])
    expect(flows.map(({ priority }) => priority).slice(0, 7)).toEqual([5, 5, 5, 5, 5, 5, 3])
  })

  it("run to their ends on hosts with two links", async () => {
    const inputs = await load(
      "topology: { builder: hpcc-testbed }\nflows: { workload: poisson, load: 0.3, sizes: FB_Hadoop, duration: 100us }",
    )
    const outcome = runToEnd(new ScenarioSimulation(inputs))
    expect(outcome.flowsTotal).toBeGreaterThan(10)
    expect(outcome).toMatchObject({ flowsFinished: outcome.flowsTotal, dropsByReason: {} })
  })
})

describe("admission", () => {
  const incast = `${star}flows: [{ workload: incast, senders: 0..6, receiver: 7, size: 100KB }]\n`

  it("holds flows back", async () => {
    const free = runToEnd(new ScenarioSimulation(await load(incast)))
    const limited = runToEnd(
      new ScenarioSimulation(await load(`${incast}admission: { flowsPerReceiver: 2, grantDelay: 1us }`)),
    )
    expect(limited.flowsFinished).toBe(7)
    expect(limited.notes[0]).toMatch(/^admission control held 5 of 7 flows back, for [\d.]+us on average$/)
    expect(limited.packetsPeak).toBeLessThan(free.packetsPeak)
    const credit = runToEnd(new ScenarioSimulation(await load(`${incast}admission: { creditPerReceiver: 300KB }`)))
    expect(credit.notes[0]).toMatch(/held 4 of 7/)
  })

  it.each([
    ["{}", "s.yaml:3:12: admission: .*expected flowsPerReceiver, flowsPerSender or creditPerReceiver"],
    ["{ grantDelay: 1us }", "expected flowsPerReceiver, flowsPerSender or creditPerReceiver"],
    ["{ flowsPerReceiver: 0 }", "admission.flowsPerReceiver: .*whole number 1"],
    ["{ flowsPerReciever: 1 }", "admission.flowsPerReciever: .*mean flowsPerReceiver"],
    ["{ creditPerReceiver: 0 }", "admission.creditPerReceiver: .*at least 1"],
  ])("%s is refused", async (section, pattern) => {
    expect((await faults(`${incast}admission: ${section}`)).join("\n")).toMatch(new RegExp(pattern))
  })
})

describe("the examples", () => {
  it.each(["testbed", "hadoop-incast"])("%s: every flow finishes, and twice the same", async (name) => {
    const text = readFileSync(new URL(`../../../examples/scenarios/${name}.yaml`, import.meta.url), "utf8")
    const outcome = runToEnd(new ScenarioSimulation(await load(text)))
    expect(outcome).toMatchObject({ flowsFinished: outcome.flowsTotal, unfinished: [], dropsByReason: {} })
    expect(outcome.flowsTotal).toBeGreaterThan(5)
    expect(runToEnd(new ScenarioSimulation(await load(text))).digest).toBe(outcome.digest)
  })
})

describe("what is refused, and where", () => {
  const entry = (text: string): string => `${star}flows:\n  - { ${text} }\n`
  it.each<[string, string, string]>([
    [
      "an unknown workload",
      "workload: poison, load: 1",
      's.yaml:3:17: flows\\[0\\].workload: found "poison", expected poisson, random-incast, .*did you mean poisson\\?',
    ],
    ["a workload without a name", "workload: 3", "flows\\[0\\].workload: .*expected poisson, random-incast, incast"],
    ["a missing field", "workload: poisson, load: 0.3, size: 1KB", "s.yaml:3:5: flows\\[0\\].duration: found nothing"],
    [
      "an unknown field",
      "workload: ring, size: 1, round: 2",
      "s.yaml:3:32: flows\\[0\\].round: .*did you mean rounds\\?",
    ],
    ["no size", "workload: ring", "s.yaml:3:5: flows\\[0\\].size: found nothing, expected this field, or sizes"],
    [
      "two kinds of sizes",
      "workload: ring, size: 1, sizes: WebSearch",
      "s.yaml:3:29: flows\\[0\\].size: .*either size or sizes",
    ],
    ["a size of nothing", "workload: ring, size: 0", "s.yaml:3:29: flows\\[0\\].size: .*at least 1"],
    [
      "an unknown distribution",
      "workload: ring, sizes: WebSerch",
      's.yaml:3:30: flows\\[0\\].sizes: found "WebSerch", expected WebSearch, FB_Hadoop, .*did you mean WebSearch',
    ],
    [
      "points that are none",
      "workload: ring, sizes: [[0, 0], [10]]",
      "s.yaml:3:30: flows\\[0\\].sizes: .*a point is a size in bytes and the percentage",
    ],
    [
      "points that end early",
      "workload: ring, sizes: [[0, 0], [10, 90]]",
      "flows\\[0\\].sizes: .*sizes is \\[10,90\\], expected 100 percent at the last point",
    ],
    [
      "a file of sizes that is not there",
      "workload: ring, sizes: { file: none.txt }",
      's.yaml:3:30: flows\\[0\\].sizes: found "none.txt", expected a file',
    ],
    [
      "a file of sizes with a mistake",
      "workload: ring, sizes: { file: bad.txt }",
      'bad.txt:2:6: percentage: found "x", expected a percentage',
    ],
    [
      "a load in percent",
      "workload: poisson, load: 30, size: 1, duration: 1us",
      's.yaml:3:32: flows\\[0\\].load: found "30", expected a share above 0.*not a percentage',
    ],
    ["a load of nothing", "workload: poisson, load: 0, size: 1, duration: 1us", "flows\\[0\\].load: .*a share above 0"],
    [
      "a load of something else",
      "workload: poisson, load: 0.1, of: spines, size: 1, duration: 1us",
      "flows\\[0\\].of: .*hosts or bisection",
    ],
    [
      "no time",
      "workload: poisson, load: 0.1, size: 1, duration: 0",
      "flows\\[0\\].duration: .*a time above 0, such as 1ms",
    ],
    [
      "too many flows",
      "workload: poisson, load: 1, size: 1, duration: 1s",
      's.yaml:3:5: flows\\[0\\]: found "100000000000", expected at most 10000000 in all; a shorter time',
    ],
    [
      "a fan-in of everybody",
      "workload: incast, fanIn: 8, size: 1",
      's.yaml:3:32: flows\\[0\\].fanIn: found "8", expected a whole number, 1..7',
    ],
    ["neither fan-in nor senders", "workload: incast, size: 1", "flows\\[0\\]: .*expected either fanIn or senders"],
    [
      "both",
      "workload: incast, size: 1, fanIn: 2, senders: 0..1",
      's.yaml:3:41: flows\\[0\\].fanIn: found "2", expected either fanIn or senders',
    ],
    [
      "senders without a receiver",
      "workload: incast, size: 1, senders: 0..1",
      "flows\\[0\\]: .*expected a host, since senders are named",
    ],
    [
      "a receiver that sends",
      "workload: incast, size: 1, senders: 0..1, receiver: 1",
      "flows\\[0\\].receiver: .*a host that is no sender",
    ],
    ["one host", "workload: ring, size: 1, hosts: 3", 's.yaml:3:39: flows\\[0\\].hosts: found "3", expected 2 hosts'],
    ["a switch among the hosts", "workload: ring, size: 1, hosts: 7..8", "flows\\[0\\].hosts: .*node 8 is a switch"],
    [
      "hosts that do not exist",
      "workload: ring, size: 1, hosts: 90..99",
      "flows\\[0\\].hosts: .*node 90 does not exist",
    ],
    [
      "a receiver that is a switch",
      "workload: incast, fanIn: 2, size: 1, receiver: 8",
      "receiver: .*node 8 is a switch",
    ],
    ["rounds of none", "workload: ring, size: 1, rounds: 0", "flows\\[0\\].rounds: .*whole number 1"],
    ["a gap without a unit", "workload: ring, size: 1, gap: 10", "flows\\[0\\].gap: .*a time such as 10us"],
    [
      "a field of another workload",
      "workload: ring, size: 1, fanIn: 3",
      "flows\\[0\\].fanIn: .*expected workload, hosts",
    ],
  ])("%s", async (_, text, pattern) => {
    expect((await faults(entry(text), [], { "/bad.txt": "0 0\n1000 x\n" })).join("\n")).toMatch(new RegExp(pattern))
  })

  it("hosts that cannot reach each other", async () => {
    const text = "topology: { nodes: 4, links: [{ from: 0, to: 1 }, { from: 2, to: 3 }] }\n"
    const of = "flows: [{ workload: poisson, load: 0.1, of: bisection, size: 1KB, duration: 1us }]"
    expect(await faults(`${text}flows: [{ workload: all-to-all, size: 1 }]`)).toEqual([
      expect.stringMatching(/^s.yaml:2:9: flows\[0\]: .*hosts that can reach each other; no path .*from 1 to 2$/),
    ])
    expect(await faults(text + of)).toEqual([
      expect.stringMatching(/flows\[0\].of: found "0", expected above 0 bit\/s/),
    ])
  })

  it("every entry's fault, and an override's", async () => {
    const list = `${star}flows:\n  - { workload: ring, size: 1, hosts: 8 }\n  - { from: 0, to: 0, size: 1 }\n`
    expect(await faults(list)).toHaveLength(2)
    expect(await faults(`${star}flows: ${poisson}`, ["flows.load=2x"])).toEqual([
      '--set: flows.load: found "2x", expected a share above 0, such as 0.3',
    ])
  })
})
