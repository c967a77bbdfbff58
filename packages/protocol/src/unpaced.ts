import type { Controller } from "./Controller.ts"
import { NEVER } from "./Time.ts"

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
