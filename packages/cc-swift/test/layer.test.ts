import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { type SwiftOptions, SwiftOptionsError } from "../src/index.ts"
import { layer } from "../src/layer.ts"

const factoryName = (options: SwiftOptions) =>
  Effect.map(CongestionControl, ({ name }) => name).pipe(Effect.provide(layer(options)))

it("provides Swift as the congestion control of a world", () => {
  expect(Effect.runSync(factoryName({ variant: "paper" }))).toBe("swift/paper")
})

it("fails with a typed error", () => {
  const error = Effect.runSync(Effect.flip(factoryName({ variant: "paper", beta: 0 })))
  expect(error).toBeInstanceOf(SwiftOptionsError)
})
