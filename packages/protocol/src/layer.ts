import { Context } from "effect"
import type { ControllerFactory } from "./Controller.ts"

/** The congestion-control algorithm of a world: replace this layer to plug in your own. */
export class CongestionControl extends Context.Service<CongestionControl, ControllerFactory>()(
  "@rdmakit/protocol/CongestionControl",
) {}
