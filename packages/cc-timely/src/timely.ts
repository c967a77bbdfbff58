import type { Controller, ControllerFactory, PathInfo, Time } from "@rdmakit/protocol"
import { TimelyNs3 } from "./TimelyNs3.ts"
import { checkOptions, checkPath, type TimelyOptions } from "./TimelyOptions.ts"
import { TimelyPaper } from "./TimelyPaper.ts"
import { TimelyPatched } from "./TimelyPatched.ts"

/**
 * TIMELY: the sender sets its rate from how the round-trip time changes (Mittal et al., SIGCOMM 2015).
 *
 * Throws `TimelyOptionsError` when an option is out of its range; `make` throws it when the path has no line rate.
 */
export const timely = (options: TimelyOptions): ControllerFactory => {
  checkOptions(options)
  return {
    name: `timely/${options.variant}`,
    needs: ["rtt"],
    make: (now, path) => {
      checkPath(path.lineRateBps)
      return make(options, now, path)
    },
  }
}

const make = (options: TimelyOptions, now: Time, path: PathInfo): Controller => {
  if (options.variant === "ns3") return new TimelyNs3(options, path)
  return options.variant === "paper" ? new TimelyPaper(options, path) : new TimelyPatched(options, now, path)
}
