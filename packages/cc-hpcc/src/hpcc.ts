import type { ControllerFactory } from "@rdmakit/protocol"
import { HpccNs3, type HpccNs3Constants } from "./HpccNs3.ts"
import { checkOptions, checkPath, type HpccOptions } from "./HpccOptions.ts"
import { HpccPaper } from "./HpccPaper.ts"

/**
 * HPCC, High Precision Congestion Control: the sender computes its window or rate from the telemetry that every
 * acknowledgement brings back (Li et al., SIGCOMM 2019).
 *
 * Throws `HpccOptionsError` when an option is out of its range; `make` throws it when the path has no line rate or no
 * base RTT.
 */
export const hpcc = (options: HpccOptions): ControllerFactory => {
  checkOptions(options)
  let before: HpccNs3Constants | undefined
  return {
    name: `hpcc/${options.variant}`,
    needs: ["int"],
    make: (_now, path) => {
      checkPath(path.lineRateBps, path.baseRttPs)
      if (options.variant === "paper") return new HpccPaper(options, path)
      const controller = new HpccNs3(options, path, before)
      before = controller.constants
      return controller
    },
  }
}
