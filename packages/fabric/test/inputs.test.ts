import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { leafSpine, star } from "@rdmakit/topology"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import {
  Fabric,
  type Fault,
  Faults,
  SwitchModel,
  sharedBufferSwitches,
  simulateFlows,
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
