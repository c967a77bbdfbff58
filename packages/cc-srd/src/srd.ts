import { type ControllerFactory, sharedByPath } from "@rdmakit/protocol"
import { checkOptions, checkPath, type SrdControlOptions } from "./SrdControlOptions.ts"
import { SrdLaw } from "./SrdLaw.ts"
import { SrdWindow } from "./SrdWindow.ts"

/**
 * The congestion control of SRD: bytes in flight and a rate for each peer, told by the delays of many paths (Shalev et
 * al., IEEE Micro 2020, who publish what it goes by and none of its numbers).
 *
 * Throws `SrdControlError` when an option is out of its range; `make` throws it when the path has no line rate, base RTT or
 * packet.
 */
export const srd = (options: SrdControlOptions = {}): ControllerFactory => {
  checkOptions(options)
  const lawOf = sharedByPath((path) => new SrdLaw(options, path))
  return {
    name: "srd",
    needs: ["rtt"],
    make: (now, path) => {
      checkPath(path)
      return new SrdWindow(now, lawOf(path))
    },
  }
}
