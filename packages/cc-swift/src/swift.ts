import type { ControllerFactory, PathInfo } from "@rdmakit/protocol"
import { SwiftLaw } from "./SwiftLaw.ts"
import { checkOptions, checkPath, type SwiftOptions } from "./SwiftOptions.ts"
import { SwiftPaper } from "./SwiftPaper.ts"

/**
 * Swift: the sender keeps the delay at a target, by a window that may be less than a packet (Kumar et al., SIGCOMM 2020).
 *
 * Throws `SwiftOptionsError` when an option is out of its range; `make` throws it when the path has no line rate or no
 * base RTT.
 */
export const swift = (options: SwiftOptions): ControllerFactory => {
  checkOptions(options)
  let law: SwiftLaw | undefined
  let lawPath: PathInfo | undefined
  return {
    name: `swift/${options.variant}`,
    needs: ["rtt"],
    make: (_now, path) => {
      checkPath(path.lineRateBps, path.baseRttPs)
      if (law === undefined || lawPath === undefined || !alike(path, lawPath)) {
        law = new SwiftLaw(options, path)
        lawPath = path
      }
      return new SwiftPaper(law, options.endpointDelayPs)
    },
  }
}

/** Flows of one kind share their constants. */
const alike = (a: PathInfo, b: PathInfo): boolean =>
  a.lineRateBps === b.lineRateBps &&
  a.baseRttPs === b.baseRttPs &&
  a.windowBytes === b.windowBytes &&
  a.mtuBytes === b.mtuBytes
