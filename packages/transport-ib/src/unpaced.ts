import { type Controller, NEVER } from "@rdmakit/protocol"

/** Stands in for a controller at an end that only responds. */
export const unpaced: Controller = {
  window: Number.POSITIVE_INFINITY,
  rate: 1,
  nextTimer: NEVER,
  onSent: () => {},
  onAck: () => false,
  onCnp: () => false,
  onLoss: () => false,
  onTimer: () => false,
  metrics: () => ({}),
}
