import { ExactKernel } from "./ExactKernel.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"

/**
 * The fused kernel: one event a hop, the arrival. What ports of switches send, and when, is found out when somebody
 * looks, and is what the exact kernel finds, event by event: the same results in the same order (see `Departures`).
 */
export class FusedKernel extends ExactKernel {
  /** @throws RangeError where ties go by insertion: the order in which departures are found out is another */
  constructor(options: Omit<ExactKernelOptions, "fused">) {
    super({ ...options, fused: true })
  }
}
