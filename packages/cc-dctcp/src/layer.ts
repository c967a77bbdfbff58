import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type DctcpOptions, type DctcpOptionsError, dctcp } from "./index.ts"

/** DCTCP as the congestion control of a world. Fails with `DctcpOptionsError` when an option is out of its range. */
export const layer = (options: DctcpOptions): Layer.Layer<CongestionControl, DctcpOptionsError> =>
  Layer.effect(
    CongestionControl,
    Effect.try({ try: () => dctcp(options), catch: (error) => error as DctcpOptionsError }),
  )
