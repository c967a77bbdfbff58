import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { type DcqcnOptions, DcqcnOptionsError } from "../src/index.ts"
import { layer } from "../src/layer.ts"

const factoryName = (options: DcqcnOptions) =>
  Effect.map(CongestionControl, ({ name }) => name).pipe(Effect.provide(layer(options)))

it("provides DCQCN as the congestion control of a world", () => {
  expect(Effect.runSync(factoryName({ variant: "paper" }))).toBe("dcqcn/paper")
})

it("fails with a typed error", () => {
  const error = Effect.runSync(Effect.flip(factoryName({ variant: "ns3", rpTimerPs: 0 })))
  expect(error).toBeInstanceOf(DcqcnOptionsError)
})
