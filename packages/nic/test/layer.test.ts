import { Effect } from "effect"
import { expect, it } from "vitest"
import { Endpoints, ReadyListNic, RoundRobinNic } from "../src/index.ts"
import { layer, layerRoundRobin, NicModel } from "../src/layer.ts"
import { FakePorts } from "./world.ts"

const make = Effect.map(NicModel, (model) =>
  model.make<number, string>({
    ports: new FakePorts(),
    endpoints: new Endpoints(),
    portIds: [0],
    controlPauseMask: 0,
    onEvent: () => {},
  }),
)

it("provides the kind of NIC that hosts have", () => {
  expect(Effect.runSync(Effect.provide(make, layer))).toBeInstanceOf(ReadyListNic)
  expect(Effect.runSync(Effect.provide(make, layerRoundRobin))).toBeInstanceOf(RoundRobinNic)
})
