import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Exit } from "effect"
import { expect, it } from "vitest"
import { type HpccOptions, HpccOptionsError } from "../src/index.ts"
import { layer } from "../src/layer.ts"

const factoryName = (options: HpccOptions) =>
  Effect.map(CongestionControl, ({ name }) => name).pipe(Effect.provide(layer(options)))

it("provides HPCC as the congestion control of a world", () => {
  expect(Effect.runSync(factoryName({ variant: "paper" }))).toBe("hpcc/paper")
})

it("fails with a typed error", () => {
  const error = Effect.runSync(Effect.flip(factoryName({ variant: "paper", eta: -1 })))
  expect(error).toBeInstanceOf(HpccOptionsError)
  expect(Exit.isFailure(Effect.runSyncExit(factoryName({ variant: "ns3", minRateBps: 0 })))).toBe(true)
})
