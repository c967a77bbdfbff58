import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type HpccNs3Options, type HpccOptionsError, hpcc } from "./index.ts"

/**
 * HPCC as the congestion control of a world. Fails with `HpccOptionsError` when an option is out of its range.
 */
export const layer = (options: HpccNs3Options): Layer.Layer<CongestionControl, HpccOptionsError> =>
  Layer.effect(CongestionControl, Effect.try({ try: () => hpcc(options), catch: (error) => error as HpccOptionsError }))
