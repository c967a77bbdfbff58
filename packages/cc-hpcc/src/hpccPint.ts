import { PintCodec } from "@rdmakit/packet"
import { type ControllerFactory, sharedByPath } from "@rdmakit/protocol"
import { GlibcRandom } from "@rdmakit/units"
import { windConstants } from "./ComputeWind.ts"
import { checkPath } from "./HpccOptions.ts"
import { HpccPintNs3 } from "./HpccPintNs3.ts"
import { checkPintOptions, type HpccPintOptions, pintDefaults } from "./HpccPintOptions.ts"
import { HpccPintPaper } from "./HpccPintPaper.ts"

/** maxStage of the paper's form, where nothing else is asked for. */
const MAX_STAGE = 0

/**
 * HPCC-PINT: HPCC with one or two bytes of telemetry in place of a record for each hop (Ben Basat et al., PINT,
 * SIGCOMM 2020).
 *
 * Throws `HpccOptionsError` when an option is out of its range; `make` throws it when the path has no line rate or no
 * base RTT.
 */
export const hpccPint = (options: HpccPintOptions): ControllerFactory => {
  checkPintOptions(options)
  const pintBase = options.logBase ?? pintDefaults.logBase
  const codec = new PintCodec(pintBase)
  const constants = sharedByPath((path) => windConstants(options, path, MAX_STAGE))
  return {
    name: `hpcc-pint/${options.variant}`,
    needs: ["pint"],
    pintBase,
    make: (_now, path) => {
      checkPath(path.lineRateBps, path.baseRttPs)
      return options.variant === "paper"
        ? new HpccPintPaper(constants(path), options, codec, path)
        : new HpccPintNs3(options, codec, options.random ?? new GlibcRandom(path.seed + path.flow), path)
    },
  }
}
