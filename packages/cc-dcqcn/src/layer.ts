import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type DcqcnOptions, type DcqcnOptionsError, dcqcn } from "./index.ts"

/** DCQCN as the congestion control of a world. Fails with `DcqcnOptionsError` when an option is out of its range. */
export const layer = (options: DcqcnOptions): Layer.Layer<CongestionControl, DcqcnOptionsError> =>
  Layer.effect(
    CongestionControl,
    Effect.try({ try: () => dcqcn(options), catch: (error) => error as DcqcnOptionsError }),
  )
