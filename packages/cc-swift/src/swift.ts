import { type ControllerFactory, sharedByPath } from "@rdmakit/protocol"
import { SwiftLaw } from "./SwiftLaw.ts"
import { checkOptions, checkPath, type SwiftOptions } from "./SwiftOptions.ts"
import { SwiftPaper } from "./SwiftPaper.ts"

/**
 * Swift: the sender keeps the delay at a target, by a window that may be less than a packet (Kumar et al., SIGCOMM 2020).
 *
 * Throws `SwiftOptionsError` when an option is out of its range; `make` throws it when the path has no line rate, base RTT
 * or packet.
 */
export const swift = (options: SwiftOptions): ControllerFactory => {
  checkOptions(options)
  const lawOf = sharedByPath((path) => new SwiftLaw(options, path))
  return {
    name: "swift/paper",
    needs: ["rtt"],
    make: (_now, path) => {
      checkPath(path)
      return new SwiftPaper(lawOf(path), options.endpointDelayPs)
    },
  }
}
