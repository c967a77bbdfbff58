import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type HpccOptions, type HpccOptionsError, hpcc } from "./index.ts"

/**
 * HPCC as the congestion control of a world. Fails with `HpccOptionsError` when an option is out of its range.
 */
export const layer = (options: HpccOptions): Layer.Layer<CongestionControl, HpccOptionsError> =>
  Layer.effect(CongestionControl, Effect.try({ try: () => hpcc(options), catch: (error) => error as HpccOptionsError }))
