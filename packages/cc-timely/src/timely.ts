import type { ControllerFactory } from "@rdmakit/protocol"
import { TimelyNs3 } from "./TimelyNs3.ts"
import { checkOptions, checkPath, type TimelyNs3Options } from "./TimelyOptions.ts"

/**
 * TIMELY: the sender sets its rate from how the round-trip time changes.
 *
 * Throws `TimelyOptionsError` when an option is out of its range; `make` throws it when the path has no line rate.
 */
export const timely = (options: TimelyNs3Options): ControllerFactory => {
  checkOptions(options)
  return {
    name: `timely/${options.variant}`,
    needs: ["rtt"],
    make: (_now, path) => {
      checkPath(path.lineRateBps)
      return new TimelyNs3(options, path)
    },
  }
}
