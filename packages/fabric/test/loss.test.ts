import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { timely, timelyPresets } from "@rdmakit/cc-timely"
import { fatTree, GraphBuilder, star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { incast, lineRate, runFlows, start } from "./runs.ts"

const controller = hpcc(hpccPresets.simulation)

/** Packets that cross the link of a directed port, by ordinal. */
const losing = (port: number, ...ordinals: ReadonlyArray<number>) => new Map([[port, new Set(ordinals)]])

describe("the last packet, or the last acknowledgement", () => {
  const flows = [{ source: 0, destination: 1, size: 5000 }]
  /** Host 0 sends through port 0; the switch sends to host 1 through port 3; acknowledgements leave host 1 by port 2. */
  it.each([
    ["data, lost before the switch", 0],
    ["data, lost behind it", 3],
    ["acknowledgement, lost before the switch", 2],
    ["acknowledgement, lost behind it", 1],
  ])("%s: the timeout makes up for it", (_name, port) => {
    const { outcome, run } = runFlows({ graph: star(2), controller, losses: losing(port, 4) }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 1, retransmissions: 1, dropsByReason: { "link-loss": 1 } })
    const completion = outcome.flows.completionTime(0)
    // 4.096 µs · 2^10 after the last progress.
    expect(completion).toBeGreaterThan(4.19e9)
    expect(completion).toBeLessThan(4.22e9)
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it("a packet in between: a NAK brings the sender back within a round trip", () => {
    const { outcome } = runFlows({ graph: star(2), controller, losses: losing(0, 1) }, flows)
    expect(outcome.flowsFinished).toBe(1)
    expect(outcome.flows.completionTime(0)).toBeLessThan(20e6)
    expect(outcome.retransmissions).toBe(4)
  })
})

describe.each([
  ["HPCC", controller],
  ["TIMELY", timely(timelyPresets["simulation+w"])],
  ["line rate", lineRate],
])("%s under one lost packet in a hundred", (_name, each) => {
  it.each([1, 2])("every flow finishes, and no packet is left over (seed %i)", (seed) => {
    const graph = fatTree(4, { host: { rate: "100Gbps", loss: 0.01 } })
    const flows = Array.from({ length: 16 }, (_, source) => ({ source, destination: (source + 5) % 16, size: 100_000 }))
    const { outcome, run } = runFlows({ graph, controller: each, seed, transport: { ackTimeoutPs: 200e6 } }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 16, unfinished: [] })
    expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(10)
    expect(outcome.retransmissions).toBeGreaterThan(10)
    expect(run.world.kernel.pool.alive).toBe(0)
  })
})

describe("flows that do not finish say why", () => {
  it("no route", () => {
    const builder = new GraphBuilder()
    const [a, b] = [builder.host(), builder.host()]
    builder.link(a, builder.switch())
    builder.link(b, builder.switch())
    const { outcome } = runFlows({ graph: builder.build(), controller }, [{ source: a, destination: b, size: 1 }])
    expect(outcome.unfinished).toMatchObject([{ flow: 0, reason: "no route from node 0 to node 1" }])
    expect(outcome.idealPs).toEqual(Float64Array.of(Number.NaN))
  })

  it("retries exceeded", () => {
    const { outcome, run } = runFlows(
      { graph: star(2, { loss: 1 }), controller, transport: { ackTimeoutPs: 1e6, retryCount: 2 } },
      [{ source: 0, destination: 1, size: 5000 }],
    )
    expect(outcome.unfinished).toMatchObject([{ reason: "no acknowledgement of packet 0 after 3 timeouts" }])
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it("waiting, window full, not started", () => {
    const flows = [
      { source: 0, destination: 1, size: "10MB" },
      { source: 1, destination: 0, size: 1000, start: "1ms" },
    ]
    const reasons = runFlows({ graph: star(2), controller }, flows, 100e6).outcome.unfinished.map((u) => u.reason)
    expect(reasons[0]).toMatch(/waiting for PSN \d+ \(\d+ of 10000000 B acknowledged\)/)
    expect(reasons[1]).toBe("not started before the stop time")
  })

  it("paused", () => {
    const run = start({ graph: star(17), controller: lineRate }, incast(16, "20MB"), 2e9)
    while (run.step(1 << 16)) {}
    const { unfinished } = run.outcome(false)
    expect(unfinished.length).toBe(16)
    expect(unfinished.some(({ reason }) => /^paused by node 17 \(priority 3\); waiting for PSN/.test(reason))).toBe(
      true,
    )
  })
})
