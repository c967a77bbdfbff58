import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type HpccOptions, type HpccOptionsError, type HpccPintOptions, hpcc, hpccPint } from "./index.ts"

/**
 * HPCC as the congestion control of a world. Fails with `HpccOptionsError` when an option is out of its range.
 */
export const layer = (options: HpccOptions): Layer.Layer<CongestionControl, HpccOptionsError> =>
  Layer.effect(CongestionControl, Effect.try({ try: () => hpcc(options), catch: (error) => error as HpccOptionsError }))

/** HPCC-PINT, likewise. */
export const pintLayer = (options: HpccPintOptions): Layer.Layer<CongestionControl, HpccOptionsError> =>
  Layer.effect(
    CongestionControl,
    Effect.try({ try: () => hpccPint(options), catch: (error) => error as HpccOptionsError }),
  )
