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

describe.each(["hpcc", "timely"])("%s: the tail is lost", (mode) => {
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

it("HPCC and TIMELY give different completion times, and each acted", () => {
  expect(referenceText("incast16/hpcc.fct.txt")).not.toBe(referenceText("incast16/timely.fct.txt"))
  const outcomes = ["hpcc", "timely"].map(
    (mode) => runReference(referenceInputs(`incast16/${mode}.config.txt`)).outcome,
  )
  expect(new Set(outcomes.map(({ digest }) => digest)).size).toBe(2)
  for (const outcome of outcomes) expect(outcome.controllerActions).toBeGreaterThan(16)
})

it("the same input twice: the same digest, flows.csv byte for byte", () => {
  const [a, b] = [0, 1].map(() => runReference(referenceInputs("tiny/hpcc.config.txt")).outcome)
  expect(a?.digest).toBe(b?.digest)
  expect(a && flowsCsv(a)).toBe(b && flowsCsv(b))
})
