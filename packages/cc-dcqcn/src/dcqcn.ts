import type { Controller, ControllerFactory, PathInfo } from "@rdmakit/protocol"
import { DcqcnNs3, dcqcnNs3Constants } from "./DcqcnNs3.ts"
import type { DcqcnOptions } from "./DcqcnOptions.ts"
import { DcqcnPaper, dcqcnPaperConstants } from "./DcqcnPaper.ts"
import { DcqcnVendor, dcqcnVendorConstants } from "./DcqcnVendor.ts"
import { checkOptions, checkPath } from "./optionChecks.ts"

/**
 * DCQCN: switches mark ECN, receivers notify, and the sender cuts its rate by an estimate of how much was marked, then
 * recovers as QCN does (Zhu et al., SIGCOMM 2015).
 *
 * Throws `DcqcnOptionsError` when an option is out of its range; `make` throws it when the path has no line rate.
 */
export const dcqcn = (options: DcqcnOptions): ControllerFactory => {
  checkOptions(options)
  const make = maker(options)
  return {
    name: `dcqcn/${options.variant}`,
    needs: [options.notification === "cnp" ? "cnp" : "ecn"],
    make: (_now, path) => {
      checkPath(path.lineRateBps)
      return make(path)
    },
  }
}

const maker = (options: DcqcnOptions): ((path: PathInfo) => Controller) => {
  if (options.variant === "ns3") {
    const constants = sharedByRate((rate) => dcqcnNs3Constants(options, rate))
    return (path) => new DcqcnNs3(constants(Math.trunc(path.lineRateBps)), path)
  }
  if (options.variant === "paper") {
    const constants = sharedByRate((rate) => dcqcnPaperConstants(options, rate))
    return (path) => new DcqcnPaper(constants(path.lineRateBps), path)
  }
  const constants = sharedByRate((rate) => dcqcnVendorConstants(options, rate))
  return (path) => new DcqcnVendor(constants(path.lineRateBps), path)
}

/** Flows of one line rate share one object of constants; mostly there is one rate. */
const sharedByRate = <Constants>(make: (lineRateBps: number) => Constants): ((lineRateBps: number) => Constants) => {
  const made = new Map<number, Constants>()
  return (lineRateBps) => {
    const constants = made.get(lineRateBps) ?? make(lineRateBps)
    made.set(lineRateBps, constants)
    return constants
  }
}
