import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type HpccFamilyError, type HpccFamilyOptions, hpccFamily } from "./index.ts"

/** One of the family as the congestion control of a world. Fails with `HpccFamilyError` when an option is out of its range. */
export const layer = (options: HpccFamilyOptions): Layer.Layer<CongestionControl, HpccFamilyError> =>
  Layer.effect(
    CongestionControl,
    Effect.try({ try: () => hpccFamily(options), catch: (error) => error as HpccFamilyError }),
  )
