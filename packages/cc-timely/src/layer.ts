import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type TimelyOptions, type TimelyOptionsError, timely } from "./index.ts"

/** TIMELY as the congestion control of a world. Fails with `TimelyOptionsError` when an option is out of its range. */
export const layer = (options: TimelyOptions): Layer.Layer<CongestionControl, TimelyOptionsError> =>
  Layer.effect(
    CongestionControl,
    Effect.try({ try: () => timely(options), catch: (error) => error as TimelyOptionsError }),
  )
