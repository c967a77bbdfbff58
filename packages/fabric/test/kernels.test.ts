import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { Drop, type Switch } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { FusedKernel } from "@rdmakit/sim"
import { star } from "@rdmakit/topology"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { FlowTable } from "../src/FlowTable.ts"
import {
  Fabric,
  type FabricOptions,
  KernelRefused,
  type NativeOptions,
  nativeParts,
  type SwitchFactory,
  SwitchModel,
  simulateFlows,
  Topology,
  World,
} from "../src/index.ts"
import { incast, runFlows } from "./runs.ts"

const network: NativeOptions = { graph: star(5), controller: hpcc(hpccPresets.simulation) }

/** The least a switch can be, with a hook that wants to be called in time. */
const eagerSwitches: SwitchFactory =
  ({ graph }) =>
  ({ ports, node }): Switch => ({
    dequeue: "eager",
    perPacket: false,
    route: (_now, { destination }) =>
      [...ports.portsOf(node)].find((port) => graph.links[port >> 1]!.a === destination) ?? Drop.NoRoute,
    admit: (_now, { priority }) => priority,
    dequeued: () => {},
  })

describe("the kernel of a native network", () => {
  it("is the fused one, unless the exact one is asked for; the result is the same", () => {
    const [own, exact] = [
      runFlows(network, incast(4, 50_000)),
      runFlows({ ...network, kernel: "exact" }, incast(4, 50_000)),
    ]
    expect([own, exact].map(({ run }) => run.world.kernel instanceof FusedKernel)).toEqual([true, false])
    expect(own.outcome.digest).toBe(exact.outcome.digest)
    expect(own.outcome.events).toBeLessThan(exact.outcome.events)
  })

  it("calls a switch that is not lazy in time, and is refused for one when it is asked for", () => {
    const eager = { ...network, switches: eagerSwitches }
    const [own, exact] = [
      runFlows(eager, incast(4, 50_000)),
      runFlows({ ...eager, kernel: "exact" }, incast(4, 50_000)),
    ]
    expect(own.outcome.flowsFinished).toBe(4)
    expect([own.outcome.digest, own.outcome.events]).toEqual([exact.outcome.digest, exact.outcome.events])
    const refused = () => runFlows({ ...eager, kernel: "fused" }, incast(4, 50_000))
    expect(refused).toThrow(KernelRefused)
    expect(refused).toThrow(/cannot serve switch 5, whose dequeue hook is "eager".*leave the kernel out/)
  })

  it("is the exact one where ties go by insertion", () => {
    const { parts } = nativeParts(network)
    const world = new World({ ...parts, ties: "insertion" }, new FlowTable([]))
    expect(world.kernel).not.toBeInstanceOf(FusedKernel)
    expect(() => new World({ ...parts, ties: "insertion", kernel: "fused" }, new FlowTable([]))).toThrow(
      /order of ties.*leave the kernel out/,
    )
  })
})

describe("the kernel of a fabric", () => {
  const fabric = Fabric.layer.pipe(
    Layer.provide(Layer.succeed(Topology, network.graph)),
    Layer.provide(Layer.succeed(CongestionControl, network.controller)),
  )
  const run = (options: FabricOptions) => Effect.provide(simulateFlows(incast(4, 50_000), options), fabric)

  it("is an option of each run: the results of both are the same", async () => {
    const [own, fused, exact] = await Promise.all(
      [{}, { kernel: "fused" }, { kernel: "exact" }].map((options) => Effect.runPromise(run(options as FabricOptions))),
    )
    expect([fused!.digest, exact!.digest]).toEqual([own!.digest, own!.digest])
    expect(own!.digest).toBe(runFlows(network, incast(4, 50_000)).outcome.digest)
    expect(fused!.events).toBe(own!.events)
    expect(exact!.events).toBeGreaterThan(fused!.events)
  })

  it("is refused where it is none, or cannot serve", async () => {
    const unknown = await Effect.runPromise(Effect.flip(run({ kernel: "fast" as "fused" })))
    expect(unknown).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "NetworkOptionError", option: "kernel" } })
    const eager = fabric.pipe(Layer.provide(Layer.succeed(SwitchModel, eagerSwitches)))
    const program = Effect.provide(simulateFlows(incast(4, 50_000), { kernel: "fused" }), eager)
    expect(await Effect.runPromise(Effect.flip(program))).toMatchObject({
      _tag: "NetworkInvalid",
      cause: { _tag: "KernelRefused" },
      message: expect.stringContaining('cannot serve switch 5, whose dequeue hook is "eager"'),
    })
  })
})
