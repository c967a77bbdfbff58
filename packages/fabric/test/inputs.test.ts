import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { leafSpine, star } from "@rdmakit/topology"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import {
  Fabric,
  type Fault,
  Faults,
  type FlowInput,
  type NativeOptions,
  NicModel,
  nativeTransport,
  RouteConvergence,
  Scheduling,
  SwitchModel,
  type SwitchSettings,
  sharedBufferSwitches,
  simulateFlows,
  simulateProgram,
  Topology,
  VerbsNetwork,
} from "../src/index.ts"
import { runFlows } from "./runs.ts"

const controller = hpcc(hpccPresets.simulation)
const fabric = Fabric.layerHpcc.pipe(Layer.provide(Layer.succeed(Topology, star(2))))

describe("a fault that is none is refused", () => {
  it.each<[unknown, string]>([
    [
      { time: Number.NaN, link: 0, up: false },
      "network: faults[0].time is NaN, expected whole picoseconds, at least 0",
    ],
    [{ time: -1, link: 0, up: false }, "faults[0].time is -1"],
    [{ time: 0.5, link: 0, up: false }, "faults[0].time is 0.5"],
    [{ time: "1us", link: 0, up: false }, 'faults[0].time is "1us"'],
    [{ link: 0, up: false }, "faults[0].time is nothing"],
    [{ time: Number.NaN, host: 0, receiver: undefined }, "faults[0].time is NaN"],
    [null, "faults[0] is null, expected a fault"],
    [{ time: 0, link: "0", up: false }, 'link "0" does not exist'],
    [{ time: 0, up: false }, "link nothing does not exist"],
    [{ time: 0, link: 0, up: "down" }, 'faults[0].up is "down", expected true or false'],
    [{ time: 0, link: 0, lossRate: "1" }, 'loss rate "1" is not between 0 and 1'],
    [{ time: 0, link: 0, lossRate: Number.NaN }, "loss rate NaN is not between 0 and 1"],
    [{ time: 0, link: 0, lossRate: 1, direction: "back" }, 'faults[0].direction is "back", expected both or forward'],
    [{ time: 0, link: 0, impairment: 0.5 }, "impairment of link 0 is 0.5, expected an object"],
    [{ time: 0, link: 0, impairment: { loss: Number.NaN } }, "loss NaN is not between 0 and 1"],
    [{ time: 0, link: 0, impairment: { delayPs: Number.NaN } }, "delayPs is NaN, expected two finite times"],
    [{ time: 0, link: 0, impairment: { delayPs: [0, Number.NaN] } }, "delayPs is [0, NaN], expected two finite times"],
    [{ time: 0, link: 0, impairment: { delayPs: [0, Infinity] } }, "delayPs is [0, Infinity]"],
    [{ time: 0, link: 0, impairment: { delayPs: [1] } }, "delayPs is [1]"],
    [{ time: 0, link: 0, impairment: { reorderPs: Infinity } }, "reorderPs is Infinity, expected a finite time"],
    [{ time: 0, link: 0, impairment: { reorderPs: "1us" } }, 'reorderPs is "1us"'],
    [{ time: 0, host: "1", receiver: undefined }, 'node "1" is not a host'],
    [{ time: 0, host: 1, receiver: 5 }, "receiver of host 1 is 5, expected a limit"],
    [{ time: 0, host: 1, receiver: {} }, "host 1 receives at nothing bit/s"],
    [{ time: 0, host: 1, receiver: { rateBps: Number.NaN } }, "host 1 receives at NaN bit/s"],
    [{ time: 0, host: 1, receiver: { rateBps: 1e9, pauses: 1 } }, "receiver of host 1: pauses is 1, expected true or"],
  ])("%j", async (fault, message) => {
    const faults = [fault as Fault]
    expect(() => runFlows({ graph: star(2), controller, faults }, [])).toThrow(message)
    expect(() => new VerbsNetwork({ graph: star(2), faults })).toThrow(message)
    const network = fabric.pipe(Layer.provide(Layer.succeed(Faults, faults)))
    const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows([]), network)))
    expect(error).toMatchObject({ _tag: "NetworkInvalid" })
    expect(error.message).toContain(message)
  })

  it("what a program asks of links is looked at as it asks", () => {
    const { links } = new VerbsNetwork({ graph: star(2) })
    expect(() => links.set(0, "down" as never)).toThrow('network: up is "down", expected true or false')
    expect(() => links.impair(0, {}, "back" as never)).toThrow('direction is "back"')
    expect(() => links.impair(0, { delayPs: 1e6 as never })).toThrow("delayPs is 1000000, expected two finite times")
  })
})

it("a network whose routes find no room is refused before they take memory", async () => {
  const large = Fabric.layerHpcc.pipe(Layer.provide(Layer.succeed(Topology, star(20_000))))
  const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows([]), large)))
  expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "TopologyError", kind: "size" } })
  expect(error.message).toContain("20001 nodes and 20000 hosts")
})

it.each([2, -1, 0.5, Number.NaN])(
  "a load balancer that chooses %s of two ends the run with a fault",
  async (choice) => {
    const network = Fabric.layerHpcc.pipe(
      Layer.provide(Layer.succeed(Topology, leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 1 }))),
      Layer.provide(Layer.succeed(SwitchModel, sharedBufferSwitches({ loadBalancer: () => ({ pick: () => choice }) }))),
    )
    const flows = [{ source: 0, destination: 1, size: 1000 }]
    const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(flows), network)))
    expect(error).toMatchObject({ _tag: "LoadBalancerFault", node: 2 })
    expect(error.message).toContain(
      `load balancer of switch 2, at 1.0872 us: it chose ${choice}, expected the index of one`,
    )
  },
)

/** How a network is refused: as plain code, by layers, and where programs run on it. */
const refusals = async (options: Partial<NativeOptions>, layer: Layer.Layer<never>, more?: object) => {
  const program = simulateProgram(Effect.void, more).pipe(Effect.provide(Layer.succeed(Topology, star(2))))
  const flows = Effect.provide(simulateFlows([], more), fabric.pipe(Layer.provide(layer)))
  const failed = (effect: Effect.Effect<unknown, unknown>) => Effect.runPromise(Effect.flip(effect)) as Promise<Error>
  const plain = (): unknown => {
    try {
      return runFlows({ graph: star(2), controller, ...options }, [])
    } catch (error) {
      return error
    }
  }
  return [plain(), await failed(flows), await failed(Effect.provide(program, layer))] as [Error, Error, Error]
}

describe("settings of switches that are none are refused", () => {
  it.each<[object | null, string]>([
    [{ bufferBytes: Number.NaN }, "network: bufferBytes is NaN, expected a whole number of bytes, below 2 GiB"],
    [{ bufferBytes: "32MiB" }, 'bufferBytes is "32MiB"'],
    [{ bufferBytes: 2 ** 31 }, "bufferBytes is 2147483648"],
    [{ headroomBytes: Number.NaN }, "switch: headroomBytes is NaN, expected a whole number of bytes, at least 0"],
    [{ headroomBytes: -5 }, "headroomBytes is -5"],
    [{ headroomBytes: 2 ** 40 }, "smaller than its headroom"],
    [{ reserveBytes: Number.NaN }, "reserveBytes is NaN"],
    [{ resumeOffsetBytes: Number.NaN }, "resumeOffsetBytes is NaN"],
    [{ threshold: { alpha: Number.NaN } }, "threshold.alpha is NaN"],
    [{ threshold: 3 }, "threshold is 3, expected { alpha }"],
    [{ lossless: "no" }, 'lossless is "no", expected true or false'],
    [{ ecn: 1 }, "ecn is 1, expected true or false"],
    [{ ecnRules: {} }, "ecnRules is an object, expected a Map"],
    [{ ecnRules: new Map([[1e11, null]]) }, "ecnRules of 100000000000 bit/s is null, expected a rule"],
    [
      { ecnRules: new Map([[1e11, { kminBytes: 2, kmaxBytes: 1, pmax: 1 }]]) },
      "ecnRules of 100000000000 bit/s: kmaxBytes is 1, expected a number of bytes, at least kminBytes, 2",
    ],
    [{ ecnRules: new Map([[1e11, { kminBytes: 1, kmaxBytes: 2, pmax: 3 }]]) }, "pmax is 3, expected a number, 0 to 1"],
    [{ ecnRules: new Map([[1e11, { kminBytes: Infinity, kmaxBytes: 2, pmax: 1 }]]) }, "at least kminBytes, Infinity"],
    [{ ecnRules: new Map([[1e11, { kminBytes: 1, kmaxBytes: "2", pmax: 1 }]]) }, 'kmaxBytes is "2"'],
    [{ ecnRules: new Map([[1e11, { kminBytes: -1, kmaxBytes: 2, pmax: 1 }]]) }, "kminBytes is -1"],
    [{ loadBalancer: "ecmpp" }, 'loadBalancer is "ecmpp", expected ecmp, flowlet, adaptive'],
    [{ loadBalancer: () => undefined }, "switch: balancer is nothing, expected a load balancer"],
    [{ loadBalancer: "flowlet", flowletGapPs: 0 }, "flowletGapPs is 0, expected a time above 0, ps"],
    [{ loadBalancer: "flowlet", flowletGapPs: "1us" }, 'flowletGapPs is "1us"'],
    [{ loadBalancer: "flowlet", flowletGapPs: Number.NaN }, "flowletGapPs is NaN"],
    [null, "switch settings is null, expected an object"],
  ])("%j", async (settings, message) => {
    const switches = sharedBufferSwitches(settings as SwitchSettings)
    const [plain, flows, program] = await refusals({ switches }, Layer.succeed(SwitchModel, switches))
    for (const error of [plain, flows, program]) expect(error.message).toContain(message)
    for (const error of [flows, program]) expect(error).toMatchObject({ _tag: "NetworkInvalid" })
  })
})

describe("other settings that are none are refused", () => {
  const weights = (weights: unknown) => ({ weights }) as { weights: ReadonlyArray<number> }
  it.each<[unknown, string]>([
    ["rr", 'network: discipline is "rr", expected strict, round-robin or { weights }'],
    [null, "discipline is null"],
    [weights([1]), "discipline.weights.length is 1, expected 32, eight for each port"],
    [weights(new Array(64).fill(1)), "discipline.weights.length is 64, expected 32"],
    [weights({}), "discipline.weights.length is nothing, expected 32"],
    [weights("1"), 'discipline.weights is "1", expected 32 numbers, eight for each port'],
    [weights(new Array(32).fill(Number.NaN)), "discipline.weights[1] is NaN, expected a finite number above 0"],
  ])("how ports choose: %j", async (discipline, message) => {
    const own = discipline as "strict"
    const errors = await refusals({ discipline: own }, Layer.succeed(Scheduling, own))
    for (const error of errors) {
      expect(error.message).toContain("discipline")
      expect(error.message).toContain(message)
    }
  })

  it("weights of the graph's ports serve flows and programs alike", async () => {
    const layer = Layer.succeed(Scheduling, weights(new Float64Array(32).fill(2)))
    const network = fabric.pipe(Layer.provide(layer))
    const flows = Effect.provide(simulateFlows([{ source: 0, destination: 1, size: 1000 }]), network)
    expect((await Effect.runPromise(flows)).flowsFinished).toBe(1)
    const program = simulateProgram(Effect.succeed(7)).pipe(Effect.provide(Layer.succeed(Topology, star(2))))
    expect((await Effect.runPromise(Effect.provide(program, layer))).value).toBe(7)
  })

  it("weights", () => {
    const run = (at: number, weight: number) => () => {
      const list = new Array(32).fill(1)
      list[at] = weight
      return runFlows({ graph: star(2), controller, discipline: { weights: list } }, [])
    }
    expect(run(3, Number.NaN)).toThrow("discipline.weights[3] is NaN, expected a finite number above 0")
    expect(run(9, 0)).toThrow("discipline.weights[9] is 0")
    expect(run(9, 1e9)).toThrow("discipline.weights[9] is 1000000000, expected at most 985")
    expect(run(8, 0)).not.toThrow()
  })

  it.each<[object, string]>([
    [{ seed: Number.NaN }, "network: seed is NaN, expected a whole number of 32 bits"],
    [{ seed: "7" }, 'seed is "7"'],
    [{ seed: 2 ** 32 }, "seed is 4294967296"],
    [{ seed: -1 }, "seed is -1, expected a whole number of 32 bits, 0 to 4294967295"],
    [{ until: Number.NaN }, "network: until is NaN, expected picoseconds, at least 0"],
    [{ until: "1ms" }, 'until is "1ms"'],
    [{ until: -1 }, "until is -1"],
  ])("%j", async (options, message) => {
    for (const error of (await refusals({}, Layer.empty, options)).slice(1)) {
      expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "NetworkOptionError" } })
      expect(error.message).toContain(message)
    }
  })

  it.each<[object, string]>([
    [{ controller: null }, "network: controller is null, expected a controller's factory"],
    [{ controller: undefined }, "controller is nothing, expected a controller's factory"],
    [{ controller: { name: "x", make: () => null } }, "controller.needs is nothing, expected a list of rtt, ecn"],
    [{ seed: 0.5 }, "seed is 0.5"],
    [{ kernel: "fast" }, 'kernel is "fast", expected exact or fused'],
    [{ switches: {} }, "switches is an object, expected a model of switches"],
    [{ nics: {} }, "nics is an object, expected a model of NICs"],
    [{ transport: { framing: "ipoib" } }, 'reliable connection: framing is "ipoib", expected simulator, rocev2 or'],
    [{ transport: { framing: null } }, "framing is null"],
    [{ baseRtt: "x" }, 'network: baseRtt is "x", expected fabric or pair'],
    [{ transport: { baseRtt: "x" } }, 'reliable connection: baseRtt is "x", expected fabric or pair'],
    [{ transport: "tcp" }, 'transport is "tcp", expected settings'],
    [{ watchdog: { detectionPs: Number.NaN } }, "watchdog.detectionPs is NaN, expected a finite time above 0, ps"],
    [{ watchdog: { restorationPs: "1ms" } }, 'watchdog.restorationPs is "1ms"'],
    [{ watchdog: { action: "stop" } }, 'watchdog.action is "stop", expected drop or forward'],
    [{ admission: {} }, "admission is an object, expected an admission model"],
    [{ admission: { make: () => null, grantDelayPs: Number.NaN } }, "admission.grantDelayPs is NaN"],
  ])("as plain code: %j", (options, message) => {
    expect(() => runFlows({ graph: star(2), controller, ...options }, [])).toThrow(message)
  })

  it("models of NICs, how long routes take and controllers by layers", async () => {
    const slow = fabric.pipe(Layer.provide(Layer.succeed(RouteConvergence, Number.NaN)))
    const late = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows([]), slow)))
    expect(late).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "TopologyError", kind: "delay" } })
    const nics = fabric.pipe(Layer.provide(Layer.succeed(NicModel, {} as never)))
    const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows([]), nics)))
    expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { option: "nics" } })
    expect(() => nativeTransport({}, null as never, 1)).toThrow("reliable connection: controller is null")
  })
})

it.each<[unknown, string]>([
  [{ source: 0, destination: 1 }, "flow 0: size is nothing, expected a whole number of bytes"],
  [{ source: 0, destination: 1, size: null }, "flow 0: size is null"],
  [{ source: 0, destination: 1, size: Number.NaN }, "flow 0: size is NaN"],
  [{ source: 0, destination: 1, size: 1, start: Number.NaN }, "flow 0: start is NaN, expected whole picoseconds"],
  [{ source: "0", destination: 1, size: 1 }, "flow 0: source is 0, expected a host"],
  [{ source: 0, destination: 1, size: 1, workload: 7 }, "flow 0: workload is 7, expected a name"],
  [null, "flow 0: source is nothing, expected a host"],
  [undefined, "flow 0: source is nothing, expected a host"],
])("a flow that is none: %j", async (flow, message) => {
  const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows([flow as FlowInput]), fabric)))
  expect(error).toMatchObject({ _tag: "FlowInvalid", message: expect.stringContaining(message) })
})

it.each([null, {}, "flows"])("flows that are no list: %j", async (flows) => {
  const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(flows as never), fabric)))
  expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { option: "flows" } })
})
