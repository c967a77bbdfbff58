import { CongestionControl } from "@rdmakit/protocol/layer"
import { Context, Effect, Layer } from "effect"
import { type RcConfig, type RcOptions, type RcOptionsError, rcConfig } from "./index.ts"

/** The reliable connections of a world: how each of them behaves. */
export class ReliableConnection extends Context.Service<ReliableConnection, RcConfig>()(
  "@rdmakit/transport-ib/ReliableConnection",
) {}

/**
 * Reliable connections under the world's congestion control. Fails with `RcOptionsError` when an option is out of its
 * range.
 */
export const layer = (
  options: Omit<RcOptions, "controller"> = {},
): Layer.Layer<ReliableConnection, RcOptionsError, CongestionControl> =>
  Layer.effect(
    ReliableConnection,
    Effect.flatMap(CongestionControl, (controller) =>
      Effect.try({ try: () => rcConfig({ ...options, controller }), catch: (error) => error as RcOptionsError }),
    ),
  )
