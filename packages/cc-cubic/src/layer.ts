import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect, Layer } from "effect"
import { type TcpOptions, type TcpOptionsError, tcp } from "./index.ts"

/** TCP's control as the congestion control of a world. Fails with `TcpOptionsError` when an option is out of its range. */
export const layer = (options: TcpOptions): Layer.Layer<CongestionControl, TcpOptionsError> =>
  Layer.effect(CongestionControl, Effect.try({ try: () => tcp(options), catch: (error) => error as TcpOptionsError }))
