import { timely, timelyPresets } from "@rdmakit/cc-timely"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { star } from "@rdmakit/topology"
import { Effect, Fiber, Layer } from "effect"
import { expect, it } from "vitest"
import {
  Fabric,
  type FabricOptions,
  type FlowInput,
  NicModel,
  readyListNics,
  Scheduling,
  SwitchModel,
  sharedBufferSwitches,
  simulateFlows,
  Topology,
  Transport,
  Watchdog,
} from "../src/index.ts"
import { incast } from "./runs.ts"

const topology = Layer.succeed(Topology, star(17))
const hpccNetwork = Fabric.layerHpcc.pipe(Layer.provide(topology))

const simulate = <E>(network: Layer.Layer<Fabric, E>, flows: ReadonlyArray<FlowInput>, options?: FabricOptions) =>
  Effect.runPromise(Effect.provide(simulateFlows(flows, options), network))

const fault = (network: Layer.Layer<Fabric>, flows: ReadonlyArray<FlowInput>) =>
  Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(flows), network)))

it("a topology is all that is needed", async () => {
  const outcome = await simulate(hpccNetwork, incast(16, "100kB"))
  expect(outcome).toMatchObject({ controller: "hpcc/paper", flowsFinished: 16, partial: false })
})

it("each part can be replaced on its own", async () => {
  const made = { switches: 0, nics: 0 }
  const network = Fabric.layer.pipe(
    Layer.provide(Layer.succeed(CongestionControl, timely(timelyPresets.simulation))),
    Layer.provide(topology),
    Layer.provide(
      Layer.succeed(SwitchModel, (context) => {
        made.switches++
        return sharedBufferSwitches({ bufferBytes: 2 ** 21 })(context)
      }),
    ),
    Layer.provide(
      Layer.succeed(NicModel, (context) => {
        made.nics++
        return readyListNics(context)
      }),
    ),
    Layer.provide(Layer.succeed(Transport, { mtuBytes: 4096, framing: "rocev2" })),
  )
  const outcome = await simulate(network, incast(16, "1MB"))
  expect(made).toEqual({ switches: 1, nics: 1 })
  expect(outcome.controller).toBe("timely/ns3")
  expect(outcome.flowsFinished).toBe(16)
  // A small buffer pauses; 245 packets of 4 KiB a flow, there and back over two links.
  expect(outcome.pfcPauses).toBeGreaterThan(0)
  expect(outcome.packetHops).toBe(16 * 245 * 4)
})

it("progress is told, a stop is heard, and what had finished is there", async () => {
  let calls = 0
  const options = { onProgress: () => void calls++, stopRequested: () => calls >= 3 }
  const outcome = await simulate(hpccNetwork, incast(16, "50MB"), options)
  expect(calls).toBe(3)
  expect(outcome).toMatchObject({ partial: true, flowsFinished: 0 })
  expect(outcome.unfinished.length).toBe(16)
})

it("nothing happens at the stop time or after it", async () => {
  const outcome = await simulate(hpccNetwork, incast(16, "1MB"), { until: 10e6 })
  expect(outcome).toMatchObject({ partial: false, flowsFinished: 0 })
  expect(outcome.simulatedPs).toBe(10e6)
})

it("it can be interrupted", async () => {
  const exit = await Effect.runPromise(
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.provide(simulateFlows(incast(16, "100GB")), hpccNetwork))
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(fiber)
      return yield* Fiber.await(fiber)
    }),
  )
  expect(exit._tag).toBe("Failure")
})

it("the same flows and seed give the same outcome, call after call", async () => {
  const twice = Effect.all([simulateFlows(incast(16, "100kB")), simulateFlows(incast(16, "100kB"))])
  const [a, b] = await Effect.runPromise(Effect.provide(twice, hpccNetwork))
  expect(a.digest).toBe(b.digest)
})

it.each<[Partial<FlowInput>, string]>([
  [{ destination: 0 }, "flow 0: destination is 0, expected a host other than the source"],
  [{ destination: 17 }, "flow 0: destination is 17, expected a host"],
  [{ source: 99 }, "flow 0: source is 99, expected a host"],
  [{ size: "1 furlong" }, "flow 0: size is 1 furlong, expected a size such as 1MB"],
  [{ size: -1 }, "flow 0: size is -1, expected a whole number of bytes"],
  [{ start: "10" }, "flow 0: start is 10, expected a time such as 10us"],
  [{ priority: 0 }, "flow 0: priority is 0, expected 1 to 7"],
  [{ sourcePort: 65536 }, "flow 0: sourcePort is 65536, expected 0 to 65535"],
])("a flow that cannot be simulated: %o", async (flow, message) => {
  const error = await fault(hpccNetwork, [{ source: 0, destination: 1, size: 1, ...flow }])
  expect(error).toMatchObject({ _tag: "FlowInvalid", message })
})

it("a network that cannot be put together", async () => {
  const small = Layer.succeed(SwitchModel, sharedBufferSwitches({ bufferBytes: 1000 }))
  const buffer = await fault(hpccNetwork.pipe(Layer.provide(small)), [])
  expect(buffer).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "BufferTooSmall" } })
  const mtu = await fault(hpccNetwork.pipe(Layer.provide(Layer.succeed(Transport, { mtuBytes: 0 }))), [])
  expect(mtu).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "RcOptionsError", option: "mtuBytes" } })
})

it("flows are sorted by start", async () => {
  const outcome = await simulate(hpccNetwork, [
    { source: 0, destination: 1, size: 1, start: "2us" },
    { source: 2, destination: 1, size: 1, start: "1us" },
  ])
  expect([...outcome.flows.source]).toEqual([2, 0])
  expect(outcome.flowsFinished).toBe(2)
})

it("so can the scheduler of ports, and a watchdog be added", async () => {
  const contest = [1, 2].map((priority) => ({ source: priority, destination: 0, size: "1MB", priority }))
  const network = Fabric.layer.pipe(
    Layer.provide(Layer.succeed(CongestionControl, timely(timelyPresets.simulation))),
    Layer.provide(Layer.succeed(Topology, star(3))),
  )
  const strict = await simulate(network, contest)
  expect(strict.watchdog).toBeNull()
  expect(strict.flows.finished[1]).toBeLessThan(0.6 * strict.flows.finished[0]!)
  const more = network.pipe(
    Layer.provide(Layer.succeed(Scheduling, "round-robin")),
    Layer.provide(Layer.succeed(Watchdog, {})),
  )
  const inTurn = await simulate(more, contest)
  expect(inTurn.watchdog).toEqual({ storms: 0, restored: 0, drained: 0 })
  expect(inTurn.flows.finished[1]).toBeGreaterThan(0.9 * inTurn.flows.finished[0]!)
})
