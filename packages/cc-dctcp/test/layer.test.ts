import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { type DctcpOptions, DctcpOptionsError } from "../src/index.ts"
import { layer } from "../src/layer.ts"

const factoryName = (options: DctcpOptions) =>
  Effect.map(CongestionControl, ({ name }) => name).pipe(Effect.provide(layer(options)))

it("provides DCTCP as the congestion control of a world", () => {
  expect(Effect.runSync(factoryName({ variant: "paper" }))).toBe("dctcp/paper")
})

it("fails with a typed error", () => {
  const error = Effect.runSync(Effect.flip(factoryName({ variant: "ns3", minRateBps: 0 })))
  expect(error).toBeInstanceOf(DctcpOptionsError)
})
