import { type Flow, FlowTable, World, WorldRun } from "@rdmakit/fabric"
import { flowsCsv } from "@rdmakit/scenario"
import { Ns3Delays } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { ns3Parts } from "../src/Ns3Mode.ts"
import { referenceInputs, referenceText, runReference, runToEnd } from "./reference.ts"

/** The flow of the tiny reference, 5,000 bytes from host 0 to host 1, with packets lost at a directed port. */
const tinyWithLoss = (mode: string, port: number, ordinal: number, overrides: ReadonlyArray<string> = []) => {
  const { config, graph, ports, routes, flows } = referenceInputs(`tiny/${mode}.config.txt`, { overrides })
  const delays = new Ns3Delays(routes, ports, config.payloadBytes)
  const losses = new Map([[port, new Set([ordinal])]])
  const flow: Flow = {
    source: flows.src[0]!,
    destination: flows.dst[0]!,
    priority: 3,
    bytes: flows.sizeBytes[0]!,
    start: flows.startNs[0]! * 1000,
    sourcePort: 10_000,
    destinationPort: 100,
  }
  const world = new World({ ...ns3Parts(config, graph, delays), losses }, new FlowTable([flow]))
  const until = config.stopNs * 1000
  const outcome = runToEnd(new WorldRun(world, { until, controller: mode, seed: 0, ideal: () => 1 }))
  const path = [world.hostPort(flow.source, flow.destination, 0)!, world.hostPort(flow.destination, flow.source, 0)!]
  return { outcome, world, path }
}

describe.each(["hpcc", "timely", "dcqcn"])("%s: the tail is lost", (mode) => {
  const { path } = tinyWithLoss(mode, 0, 1e9)
  it.each([
    ["last packet", path[0]!],
    ["last acknowledgement", path[1]!],
  ])("the %s: the timeout makes up for it", (_name, port) => {
    const { outcome, world } = tinyWithLoss(mode, port, 4)
    expect(outcome).toMatchObject({ flowsFinished: 1, dropsByReason: { "link-loss": 1 }, unfinished: [] })
    expect(world.kernel.pool.alive).toBe(0)
  })

  it("without a timeout it never ends, as in the reference, and says why", () => {
    const { outcome } = tinyWithLoss(mode, path[0]!, 4, ["TAIL_LOSS_TIMEOUT=0"])
    expect(outcome.unfinished).toMatchObject([
      { flow: 0, bytes: 5000, reason: "waiting for PSN 4 (4000 of 5000 B acknowledged)" },
    ])
    expect(outcome.dropsByReason).toEqual({ "link-loss": 1 })
  })
})

describe("flow files", () => {
  const run = (lines: ReadonlyArray<string>, overrides: ReadonlyArray<string> = []) =>
    runReference(
      referenceInputs("incast16/hpcc.config.txt", {
        overrides,
        files: { "incast16/flow.txt": `${lines.length}\n${lines.join("\n")}\n` },
      }),
    ).outcome

  it("out of order: sorted", () => {
    const outcome = run(["1 0 3 100 1000 2.0001", "2 0 3 100 2000 2.0"])
    expect(outcome.flowsFinished).toBe(2)
    expect([...outcome.flows.bytes]).toEqual([2000, 1000])
  })

  it.each([0, 1, 1000, 8000])("%i bytes", (bytes) => {
    const outcome = run([`1 0 3 100 ${bytes} 2.0`])
    expect(outcome).toMatchObject({ flowsFinished: 1, packetHops: 4 * Math.max(1, bytes / 1000 > 1 ? 8 : 1) })
  })

  it("more than 4 GiB: the bytes are exact", () => {
    const outcome = run(["1 0 3 100 4294968000 2.0"], ["PACKET_PAYLOAD_SIZE=64000", "SIMULATOR_STOP_TIME=4"])
    expect(outcome).toMatchObject({ flowsFinished: 1, packetHops: 4 * Math.ceil(4_294_968_000 / 64_000) })
  })

  it("a flow cut off by the stop time says how far it came", () => {
    const outcome = run(["1 0 3 100 100000000 2.0", "2 0 3 100 1 3.0"], ["SIMULATOR_STOP_TIME=2.001"])
    expect(outcome.unfinished.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/waiting for PSN \d+ \(\d+ of 100000000 B acknowledged\)/),
      "not started before the stop time",
    ])
    const lines = flowsCsv(outcome).split("\n")
    expect(lines[1]).toMatch(/,unfinished,"/)
  })
})

it("random loss at every link: every flow finishes, and no packet is left over", () => {
  const { simulation, outcome } = runReference(
    referenceInputs("incast16/hpcc.config.txt", {
      overrides: ["ERROR_RATE_PER_LINK=0.01", "SIMULATOR_STOP_TIME=3"],
      files: {
        "incast16/flow.txt": `4\n${[1, 2, 3, 4].map((source) => `${source} 0 3 100 100000 2.0`).join("\n")}\n`,
      },
    }),
  )
  expect(outcome).toMatchObject({ flowsFinished: 4, unfinished: [] })
  expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(5)
  expect(simulation.world.kernel.pool.alive).toBe(0)
})

it("HPCC, TIMELY and DCQCN give different completion times, and each acted", { timeout: 30_000 }, () => {
  const modes = ["hpcc", "timely", "dcqcn"]
  expect(new Set(modes.map((mode) => referenceText(`incast16/${mode}.fct.txt`))).size).toBe(3)
  const outcomes = modes.map((mode) => runReference(referenceInputs(`incast16/${mode}.config.txt`)).outcome)
  expect(new Set(outcomes.map(({ digest }) => digest)).size).toBe(3)
  for (const outcome of outcomes) expect(outcome.controllerActions).toBeGreaterThan(16)
})

describe("CC_MODE 1", () => {
  const US = 1e6
  /** A flow of a config with these keys, after its first notification. */
  const notified = (...overrides: ReadonlyArray<string>) => {
    const { config, graph, ports, routes } = referenceInputs("tiny/dcqcn.config.txt", { overrides })
    const { controller, path } = ns3Parts(config, graph, new Ns3Delays(routes, ports, config.payloadBytes))
    const flow = controller.make(0, path(0, 0, 1, 100e9))
    flow.onCnp(0)
    return flow
  }

  it("the periods, in whole microseconds, the cut 1 ns later", () => {
    expect([...notified().timers!.due]).toEqual([1 * US, 4 * US + 1000, Infinity])
    const flow = notified("ALPHA_RESUME_INTERVAL=7.9", "RATE_DECREASE_INTERVAL=9", "RP_TIMER=11")
    expect([...flow.timers!.due]).toEqual([7 * US, 9 * US + 1000, Infinity])
    flow.onTimer(9 * US + 1000, 1)
    expect(flow.timers!.due[2]).toBe(20 * US + 1000)
  })

  it("gain, steps, thresholds and clamp", () => {
    const keys = ["EWMA_GAIN=0.5", "MIN_RATE=30Gb/s", "RATE_AI=10Gb/s", "RATE_HAI=20Gb/s", "FAST_RECOVERY_TIMES=0"]
    const flow = notified(...keys, "CLAMP_TARGET_RATE=1")
    // α 1, so half each: the second cut brings the target to 50 Gb/s, its own rate would be 25.
    flow.onTimer(4 * US, 1)
    expect(flow.rate).toBe(50e9)
    flow.onCnp(5 * US)
    flow.onTimer(8 * US, 1)
    expect([flow.rate, flow.metrics().targetRateBps]).toEqual([30e9, 50e9])
    // 10 Gb/s more at once, then 20.
    flow.onTimer(308 * US, 2)
    expect([flow.rate, flow.metrics().targetRateBps]).toEqual([45e9, 60e9])
    flow.onTimer(608 * US, 2)
    expect([flow.rate, flow.metrics().targetRateBps]).toEqual([62.5e9, 80e9])
    flow.onTimer(609 * US, 0)
    expect(flow.metrics().alpha).toBe(1)
    flow.onTimer(610 * US, 0)
    expect(flow.metrics().alpha).toBe(0.5)
  })

  it("HAS_WIN and VAR_WIN: 52,000 bytes, and half of it at half the rate", () => {
    const windows = [[], ["HAS_WIN=1"], ["HAS_WIN=1", "VAR_WIN=1"]].map((keys) => {
      const flow = notified(...keys)
      flow.onTimer(4 * US, 1)
      return flow.window
    })
    expect(windows).toEqual([Infinity, 52_000, 26_000])
  })
})

it("the same input twice: the same digest, flows.csv byte for byte", () => {
  const [a, b] = [0, 1].map(() => runReference(referenceInputs("tiny/hpcc.config.txt")).outcome)
  expect(a?.digest).toBe(b?.digest)
  expect(a && flowsCsv(a)).toBe(b && flowsCsv(b))
})
