import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { RcOptionsError } from "../src/index.ts"
import { layer, ReliableConnection } from "../src/layer.ts"
import { fixedController } from "./connection.ts"

const controller = fixedController({ needs: ["int"] })
const provide = (options?: Parameters<typeof layer>[0]) =>
  Effect.provide(ReliableConnection, Layer.provide(layer(options), Layer.succeed(CongestionControl, controller)))

it("provides reliable connections under the world's congestion control", () => {
  const config = Effect.runSync(provide({ mtuBytes: 4096 }))
  expect([config.controller, config.mtuBytes, config.telemetry]).toEqual([controller, 4096, true])
  expect(Effect.runSync(provide()).mtuBytes).toBe(1024)
})

it("fails with a typed error", () => {
  expect(Effect.runSync(Effect.flip(provide({ retryCount: -1 })))).toBeInstanceOf(RcOptionsError)
})
