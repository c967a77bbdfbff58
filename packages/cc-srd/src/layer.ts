import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type SrdControlError, type SrdControlOptions, srd } from "./index.ts"

/** SRD's control as the congestion control of a world. Fails with `SrdControlError` when an option is out of its range. */
export const layer = (options: SrdControlOptions = {}): Layer.Layer<CongestionControl, SrdControlError> =>
  Layer.effect(CongestionControl, Effect.try({ try: () => srd(options), catch: (error) => error as SrdControlError }))
