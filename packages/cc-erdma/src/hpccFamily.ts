import type { ControllerFactory } from "@rdmakit/protocol"
import { HpccEcn } from "./HpccEcn.ts"
import { checkOptions, checkPath, type HpccFamilyOptions } from "./HpccOptions.ts"
import { HpccRtt } from "./HpccRtt.ts"

/**
 * Two of the three HPCCs of eRDMA's list: by round trips (HPCC_RTT) and by marks (HPCC_ECN). Their laws are not public:
 * these are models, with the structure of HPCC (Li et al., SIGCOMM 2019). The third, by telemetry, is HPCC itself.
 *
 * Throws `HpccFamilyError` when an option is out of its range; `make` throws it when the path has no line rate or no base
 * RTT.
 */
export const hpccFamily = (options: HpccFamilyOptions): ControllerFactory => {
  checkOptions(options)
  return {
    name: `hpcc-${options.variant}/model`,
    needs: [options.variant],
    make: (_now, path) => {
      checkPath(path.lineRateBps, path.baseRttPs)
      return options.variant === "rtt" ? new HpccRtt(options, path) : new HpccEcn(options, path)
    },
  }
}
