import type { ControllerFactory } from "@rdmakit/protocol"
import { HpccNs3 } from "./HpccNs3.ts"
import { checkOptions, checkPath, type HpccNs3Options } from "./HpccOptions.ts"

/**
 * HPCC, High Precision Congestion Control: the sender computes its window or rate from the telemetry that every
 * acknowledgement brings back.
 *
 * Throws `HpccOptionsError` when an option is out of its range; `make` throws it when the path has no line rate or no
 * base RTT.
 */
export const hpcc = (options: HpccNs3Options): ControllerFactory => {
  checkOptions(options)
  return {
    name: `hpcc/${options.variant}`,
    needs: ["int"],
    make: (_now, path) => {
      checkPath(path.lineRateBps, path.baseRttPs)
      return new HpccNs3(options, path)
    },
  }
}
