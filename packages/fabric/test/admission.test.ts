import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { star } from "@rdmakit/topology"
import { formatTime } from "@rdmakit/units"
import { Admission, type AdmissionLimits } from "@rdmakit/workload"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import {
  AdmissionControl,
  type AdmissionModel,
  Fabric,
  type NativeOptions,
  simulateFlows,
  Topology,
} from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

const model = (limits: AdmissionLimits, grantDelayPs?: number): AdmissionModel => ({
  make: (flows) => new Admission(limits, flows),
  ...(grantDelayPs === undefined ? {} : { grantDelayPs }),
})
const network = (admission?: AdmissionModel): NativeOptions => ({
  graph: star(17),
  controller: lineRate,
  ...(admission === undefined ? {} : { admission }),
})

describe("admission control", () => {
  it("without limits changes nothing", () => {
    // Where flows wait for each other, nodes take no turns: the exact kernel counts its events in one way.
    const { outcome } = runFlows({ ...network(), kernel: "exact" }, incast(16, "100kB"))
    const free = runFlows({ ...network(model({})), kernel: "exact" }, incast(16, "100kB")).outcome
    expect([free.digest, free.events, free.notes]).toEqual([outcome.digest, outcome.events, outcome.notes])
  })

  it("one flow at a time to a receiver: each ends its ideal time after the one before, and no queue builds", () => {
    const { outcome, run } = runFlows(network(model({ flowsPerReceiver: 1 })), incast(16, "100kB"))
    expect(outcome.flowsFinished).toBe(16)
    // Waiting belongs to a flow's completion time.
    const times = Array.from({ length: 16 }, (_, flow) => outcome.flows.completionTime(flow))
    const ideal = outcome.idealPs[0]!
    expect(times).toEqual(times.map((_, flow) => (flow + 1) * ideal))
    // They wait 1 to 15 ideal times: 8 on average.
    const mean = formatTime(Math.round((8 * ideal) / 1000) * 1000)
    expect(outcome.notes).toContain(`admission control held 15 of 16 flows back, for ${mean} on average`)
    // One packet at a time waits at the switch: what arrives at line rate leaves at line rate.
    expect(run.world.kernel.pool.alivePeak).toBeLessThan(runFlows(network(), incast(16, "100kB")).outcome.packetsPeak)
  })

  it("a grant is on its way for a while", () => {
    const { outcome } = runFlows(network(model({ flowsPerReceiver: 1 }, 2e6)), incast(3, "100kB"))
    const ideal = outcome.idealPs[0]!
    const times = [0, 1, 2].map((flow) => outcome.flows.completionTime(flow))
    expect(times).toEqual([ideal, 2 * ideal + 2e6, 3 * ideal + 4e6])
  })

  it("says which flows are still held back when time is up", () => {
    const { outcome } = runFlows(network(model({ flowsPerReceiver: 1 })), incast(3, "100kB"), 5e6)
    expect(outcome.unfinished.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/waiting for PSN/),
      "held back by admission control",
      "held back by admission control",
    ])
  })

  it("a flow that fails makes room", () => {
    // The first packet of host 0 is lost, and there is no second try.
    const options: NativeOptions = {
      ...network(model({ flowsPerReceiver: 1 })),
      transport: { ackTimeoutPs: 100e6, retryCount: 0 },
      losses: new Map([[0, new Set([0])]]),
    }
    const { outcome } = runFlows(options, incast(2, 1000))
    expect(outcome.unfinished.map(({ flow, reason }) => [flow, reason])).toEqual([
      [0, "no acknowledgement of packet 0 after 1 timeouts"],
    ])
    expect(outcome.flowsFinished).toBe(1)
  })

  it("is a layer", async () => {
    const layer = Fabric.layer.pipe(
      Layer.provide(Layer.succeed(CongestionControl, hpcc(hpccPresets.simulation))),
      Layer.provide(Layer.succeed(Topology, star(5))),
      Layer.provide(Layer.succeed(AdmissionControl, model({ creditBytesPerReceiver: 250_000 }))),
    )
    const outcome = await Effect.runPromise(Effect.provide(simulateFlows(incast(4, "100kB")), layer))
    expect(outcome.flowsFinished).toBe(4)
    expect(outcome.notes[0]).toMatch(/^admission control held 2 of 4 flows back/)
  })
})
