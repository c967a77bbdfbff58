import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { type TimelyOptions, TimelyOptionsError } from "../src/index.ts"
import { layer } from "../src/layer.ts"

const factoryName = (options: TimelyOptions) =>
  Effect.map(CongestionControl, ({ name }) => name).pipe(Effect.provide(layer(options)))

it("provides TIMELY as the congestion control of a world", () => {
  expect(Effect.runSync(factoryName({ variant: "paper" }))).toBe("timely/paper")
})

it("fails with a typed error", () => {
  const error = Effect.runSync(Effect.flip(factoryName({ variant: "ns3", minRttPs: 0 })))
  expect(error).toBeInstanceOf(TimelyOptionsError)
})
