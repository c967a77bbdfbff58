import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type SwiftOptions, type SwiftOptionsError, swift } from "./index.ts"

/** Swift as the congestion control of a world. Fails with `SwiftOptionsError` when an option is out of its range. */
export const layer = (options: SwiftOptions): Layer.Layer<CongestionControl, SwiftOptionsError> =>
  Layer.effect(
    CongestionControl,
    Effect.try({ try: () => swift(options), catch: (error) => error as SwiftOptionsError }),
  )
