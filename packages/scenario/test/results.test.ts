import { loadScenario, Ns3Simulation, Recorder, ScenarioSimulation, seriesCsv, slowdownRows } from "@rdmakit/scenario"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { referenceInputs, referenceText, runToEnd } from "./reference.ts"

/** The rows of a table, without its header. */
const rowsOf = (csv: string): ReadonlyArray<ReadonlyArray<number>> =>
  csv
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").map((cell) => (cell === "" ? Number.NaN : Number(cell))))

const simulationOf = async (text: string): Promise<ScenarioSimulation> => {
  const octets = new TextEncoder().encode(text)
  const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets })
  return new ScenarioSimulation(await Effect.runPromise(Effect.provide(loaded, memoryFiles({}))))
}

const pair = (flows: string, more = "") =>
  simulationOf(`topology: { builder: star, hosts: 3, link: { rate: 100Gbps, delay: 1us } }\nflows: ${flows}\n${more}`)

describe("series", () => {
  // What the original wrote at every enqueue and dequeue of the port to the receiver: the last in each microsecond.
  it.each(["hpcc", "timely", "dcqcn"])("%s: the queue of the incast is ns-3's, at every microsecond", (mode) => {
    const simulation = new Ns3Simulation(referenceInputs(`incast16/${mode}.config.txt`))
    const recorder = new Recorder(simulation, { period: 1e6, samplesMax: 5000 })
    runToEnd(simulation)
    const sampled = new Map<number, number>()
    for (const [time, node, , bytes] of rowsOf(seriesCsv(recorder, "queue"))) {
      expect(node).toBe(17)
      sampled.set((time! - 2e12) / 1e6, bytes!)
    }
    const reference = rowsOf(referenceText(`incast16/${mode}.qlen_1us.csv`))
    expect(reference.length).toBeGreaterThan(1300)
    // Row t is of [t, t + 1) µs, which the sample at t + 1 sees.
    for (const [time, , last] of reference) expect([time, sampled.get(time! + 1) ?? 0]).toEqual([time, last])
    expect(recorder.period).toBe(1e6)
  })

  it("rates and windows are the controllers'", async () => {
    const run = await pair("[{ from: 0, to: 1, size: 1MB }]")
    const recorder = new Recorder(run)
    const { flows } = runToEnd(run)
    const rates = seriesCsv(recorder, "rate")
    expect(rates.slice(0, rates.indexOf("\n"))).toBe("time_ps,flow,rate_bps")
    const rows = rowsOf(rates)
    // Twice 1 µs each way, 1,090 B and 88 B twice at 100 Gb/s: 4,188,480 ps, in which nothing but the start is known.
    const early = rows.filter(([time]) => time! <= 4.1e6)
    expect(early).toEqual(Array.from({ length: 41 }, (_, index) => [(index + 1) * 1e5, 0, 100e9]))
    expect(rowsOf(seriesCsv(recorder, "window"))[0]).toEqual([1e5, 0, 52_356])
    expect(rows.at(-1)![0]).toBe(Math.floor(flows.finished[0]! / 1e5) * 1e5)
  })

  it("without a window its cells are empty", async () => {
    const run = await pair("[{ from: 0, to: 1, size: 100KB }]", "controller: { name: timely, preset: simulation }")
    const recorder = new Recorder(run, { period: 1e6 })
    runToEnd(run)
    expect(seriesCsv(recorder, "window").split("\n").slice(0, 2)).toEqual(["time_ps,flow,window_bytes", "1000000,0,"])
  })

  it("a queue's lines begin and end with 0", async () => {
    const run = await pair("[{ from: 0..1, to: 2, size: 10KB }]")
    const recorder = new Recorder(run)
    runToEnd(run)
    const rows = rowsOf(seriesCsv(recorder, "queue"))
    // Ten packets of 1,090 B from each side, two at a time: when the last two are there, ten have started to leave.
    expect(Math.max(...rows.map(([, , , bytes]) => bytes!))).toBe(10 * 1090)
    expect([rows[0]![3], rows.at(-1)![3]]).toEqual([0, 0])
    expect(rows.filter(([, , , bytes]) => bytes === 0)).toHaveLength(2)
    expect(recorder.peakBytes[5]).toBe(10 * 1090)
  })

  it("keep to their bounds, on a grid", async () => {
    const run = await pair("[{ from: 0..1, to: 2, size: 1MB }]")
    const recorder = new Recorder(run, { samplesMax: 50, rowsMax: 60 })
    const { flows } = runToEnd(run)
    expect(recorder.flows.samples).toBeLessThanOrEqual(50)
    expect(recorder.flows.rows).toBeLessThanOrEqual(60)
    const doublings = Math.log2(recorder.period / 1e5)
    expect(Number.isInteger(doublings)).toBe(true)
    // A period half as long would have been too short: two flows for the whole time are more than 60 rows.
    expect((2 * flows.finished[0]!) / (recorder.period / 2)).toBeGreaterThan(60)
    const times = Array.from({ length: recorder.flows.samples }, (_, sample) => recorder.flows.timeOf(sample))
    expect(times).toEqual(times.map((_, index) => (index + 1) * recorder.period))
    expect(recorder.queues.samples).toBe(recorder.flows.samples)
  })

  it("nobody looks while nothing is under way", async () => {
    const run = await pair("[{ from: 0, to: 1, size: 1KB }, { from: 0, to: 1, size: 1KB, start: 1s }]")
    const recorder = new Recorder(run)
    runToEnd(run)
    // Each takes 4.188 µs: 41 looks at the first, at 0.1 to 4.1 µs, and as many at the second.
    expect(recorder.flows.samples).toBe(82)
    expect(recorder.period).toBe(1e5)
    expect([recorder.flows.timeOf(40), recorder.flows.timeOf(41)]).toEqual([4.1e6, 1e12 + 1e5])
  })

  it("a flow that is held back has no rate until it starts, and holds up no other", async () => {
    const flows = "[{ from: 0..1, to: 2, size: 100KB }, { from: 2, to: 0, size: 10KB, start: 1us }]"
    const run = await pair(flows, "admission: { flowsPerReceiver: 1 }")
    const recorder = new Recorder(run)
    const { flows: table } = runToEnd(run)
    const first = (flow: number) => rowsOf(seriesCsv(recorder, "rate")).find((row) => row[1] === flow)![0]!
    expect(first(0)).toBe(1e5)
    expect(first(1)).toBe(Math.floor(table.finished[0]! / 1e5) * 1e5 + 1e5)
    expect(first(2)).toBe(1.1e6)
  })

  it("of no flows, and of one that never ends", async () => {
    const idle = await pair("[]")
    const none = new Recorder(idle)
    runToEnd(idle)
    expect(seriesCsv(none, "rate")).toBe("time_ps,flow,rate_bps\n")
    expect(seriesCsv(none, "queue")).toBe("time_ps,node,interface,queue_bytes\n")
    const losing = await pair(
      "[{ from: 0, to: 1, size: 1KB }]",
      "losses: [{ from: 0, to: 3, packets: [0] }]\ntransport: { ackTimeout: never }",
    )
    const recorder = new Recorder(losing)
    const outcome = runToEnd(losing)
    expect(outcome.flowsFinished).toBe(0)
    expect(recorder.flows.samples).toBeGreaterThan(0)
  })
})

describe("histograms and pauses", () => {
  it("queues by time: what is sampled, weighted with the time between samples", async () => {
    const run = await pair("[{ from: 0..1, to: 2, size: 10KB }]")
    const recorder = new Recorder(run)
    runToEnd(run)
    const samples = recorder.queues.samples
    expect(recorder.longestBytes.weight).toBe(samples * 1e5)
    // Three ports of the one switch.
    expect(recorder.queueBytes.weight).toBe(3 * samples * 1e5)
    const waiting = rowsOf(seriesCsv(recorder, "queue")).filter(([, , , bytes]) => bytes! > 0)
    expect(recorder.longestBytes.shareUpTo(0)).toBeCloseTo(1 - waiting.length / samples, 12)
    expect(recorder.longestBytes.mean).toBeCloseTo(waiting.reduce((sum, row) => sum + row[3]!, 0) / samples, 6)
    expect(recorder.longestBytes.max).toBe(10 * 1090)
  })

  it("pauses are the run's, and the simulator's own list of them still complete", () => {
    const simulation = new Ns3Simulation(referenceInputs("pfcdemo/timely.config.txt"))
    const recorder = new Recorder(simulation)
    const outcome = runToEnd(simulation)
    const { count } = recorder.world.ports
    const pauses = Array.from({ length: count }, (_, port) => recorder.pauses.count(port))
    expect(pauses.reduce((sum, each) => sum + each, 0)).toBe(outcome.pfcPauses)
    expect(recorder.pauses.meanFraction(recorder.start + outcome.simulatedPs)).toBeCloseTo(outcome.pfcPauseFraction, 12)
    expect(simulation.files().pfc).toBe(referenceText("pfcdemo/timely.pfc.txt"))
  })
})

it("slowdown by size leaves out what did not finish, and ends with all", async () => {
  const run = await pair("[{ from: 0, to: 1, size: 1KB }, { from: 1, to: 2, size: 1GB, start: 5us }]", "stop: 9us")
  const outcome = runToEnd(run)
  const stats = { count: 1, mean: 1, p50: 1, p95: 1, p99: 1 }
  expect(slowdownRows(outcome)).toEqual([
    { endBytes: 1000, ...stats },
    { endBytes: Number.NaN, ...stats },
  ])
})
