import type { ControllerFactory, PathInfo } from "@rdmakit/protocol"
import type { SrdControlOptions } from "./SrdControlOptions.ts"
import { SrdLaw } from "./SrdLaw.ts"
import { SrdWindow } from "./SrdWindow.ts"

/** What options are checked with before there is a path. */
const anyPath: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 10e6,
  windowBytes: 0,
  mtuBytes: 4096,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 0,
}

/**
 * The congestion control of SRD: bytes in flight and a rate for each peer, told by the delays of many paths (Shalev et
 * al., IEEE Micro 2020, who publish what it goes by and none of its numbers).
 *
 * Throws `SrdControlError` when an option is out of its range; `make` throws it when the path has no line rate or no base
 * RTT.
 */
export const srd = (options: SrdControlOptions = {}): ControllerFactory => {
  let law = new SrdLaw(options, anyPath)
  let lawPath = anyPath
  return {
    name: "srd",
    needs: ["rtt"],
    make: (now, path) => {
      if (!alike(path, lawPath)) {
        law = new SrdLaw(options, path)
        lawPath = path
      }
      return new SrdWindow(now, law)
    },
  }
}

/** Flows of one kind share their constants. */
const alike = (a: PathInfo, b: PathInfo): boolean =>
  a.lineRateBps === b.lineRateBps && a.baseRttPs === b.baseRttPs && a.mtuBytes === b.mtuBytes
