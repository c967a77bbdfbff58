import { type ControllerFactory, sharedByPath } from "@rdmakit/protocol"
import { windConstants } from "./ComputeWind.ts"
import { HpccNs3, ns3Constants } from "./HpccNs3.ts"
import { checkOptions, checkPath, type HpccOptions } from "./HpccOptions.ts"
import { HpccPaper } from "./HpccPaper.ts"

/** maxStage of the paper's form, where nothing else is asked for (HPCC §5.1). */
const MAX_STAGE = 5

/**
 * HPCC, High Precision Congestion Control: the sender computes its window or rate from the telemetry that every
 * acknowledgement brings back (Li et al., SIGCOMM 2019).
 *
 * Throws `HpccOptionsError` when an option is out of its range; `make` throws it when the path has no line rate or no
 * base RTT.
 */
export const hpcc = (options: HpccOptions): ControllerFactory => {
  checkOptions(options)
  return {
    name: `hpcc/${options.variant}`,
    needs: ["int"],
    make: makeOf(options),
  }
}

const makeOf = (options: HpccOptions): ControllerFactory["make"] => {
  if (options.variant === "paper") {
    const constants = sharedByPath((path) => windConstants(options, path, MAX_STAGE))
    return (_now, path) => {
      checkPath(path.lineRateBps, path.baseRttPs)
      return new HpccPaper(constants(path))
    }
  }
  const constants = sharedByPath((path) => ns3Constants(options, path))
  return (_now, path) => {
    checkPath(path.lineRateBps, path.baseRttPs)
    return new HpccNs3(constants(path))
  }
}
