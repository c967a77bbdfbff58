import { PintCodec } from "@rdmakit/packet"
import { hasFields, optionChecks } from "@rdmakit/protocol"
import { GlibcRandom } from "@rdmakit/units"
import { HpccOptionsError, type HpccReaction, reactions } from "./HpccOptions.ts"

/** HPCC-PINT in the window form: Algorithm 1's ComputeWind with a utilisation that the switches have computed. */
export interface HpccPintPaperOptions {
  readonly variant: "paper"
  /** η, the utilisation aimed at. Above 0. Default 0.95 (PINT's evaluation). */
  readonly eta?: number
  /** Additive increases in a row before a multiplicative one is forced. Integer, at least 0. Default 0 (PINT's evaluation). */
  readonly maxStage?: number
  /** W_AI, bytes. At least 0. Default 80 (PINT's evaluation). */
  readonly additiveIncreaseBytes?: number
  /** Floor of the window, bytes. At least 1, and never above W_init. Default W_init / 100, as for `hpcc`. */
  readonly minWindowBytes?: number
  /** Default `both`. */
  readonly reaction?: HpccReaction
  /** Base of the digests' logarithm, which switches are to use too: 1.0002 to 250,000. Default 1.05, ε = 0.025: 8 bits. */
  readonly logBase?: number
  /** Share of the acknowledgements that are used, above 0 to 1. Default 1; 1/16 is as good (PINT's evaluation). */
  readonly probability?: number
}

/** HPCC-PINT as HPCC's ns-3 code has it (CC_MODE 10): an integer rate, and a window that follows it. */
export interface HpccPintNs3Options {
  readonly variant: "ns3"
  /** U_TARGET. Above 0. Default 0.95 (run.py). */
  readonly eta?: number
  /** MI_THRESH. Integer, at least 0. Default 0 (run.py). */
  readonly maxStage?: number
  /** RATE_AI, bit/s. Integer, at least 0. Default 10/25000 of the line rate, 40 Mb/s at 100 Gb/s (run.py). */
  readonly additiveIncreaseBps?: number
  /** MIN_RATE, bit/s. Integer, at least 1. Default 1 Gb/s (run.py). A slower line lowers it to its own rate. */
  readonly minRateBps?: number
  /** VAR_WIN: the window shrinks with the rate, rather than stay at `PathInfo.windowBytes`. Default true (run.py). */
  readonly varWin?: boolean
  /** PINT_LOG_BASE: 1.0002 to 250,000. Default 1.05 (the code's own; run.py has 1.01). */
  readonly logBase?: number
  /** PINT_PROB: share of the acknowledgements that are used, 0 to 1, in 65,536ths rounded down. Default 1. */
  readonly probability?: number
  /**
   * `rand()`, drawn for each acknowledgement; the simulator's switches draw from the same sequence. Default: one
   * for each flow, seeded with the run's seed and its number.
   */
  readonly random?: GlibcRandom
}

export type HpccPintOptions = HpccPintPaperOptions | HpccPintNs3Options

export const pintDefaults = { logBase: 1.05 } as const

const { check, checkInteger, checkAbove, checkAtLeast, checkBoolean, checkShare, checkWithin, checkWord } =
  optionChecks(HpccOptionsError)

/** Throws `HpccOptionsError` at the first option that is out of its range. */
export const checkPintOptions = (options: HpccPintOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant, logBase = pintDefaults.logBase } = options
  check("variant", variant, variant === "paper" || variant === "ns3", "paper or ns3")
  checkAbove("eta", options.eta, 0)
  checkInteger("maxStage", options.maxStage, 0)
  const bits = typeof logBase === "number" ? PintCodec.bitsOf(logBase) : Number.NaN
  check("logBase", logBase, bits >= 1 && bits <= 16, "a base of digests of 1 to 16 bits, 1.0002 to 250,000")
  if (options.variant === "paper") {
    checkWord("reaction", options.reaction, reactions)
    checkAtLeast("additiveIncreaseBytes", options.additiveIncreaseBytes, 0)
    checkAtLeast("minWindowBytes", options.minWindowBytes, 1)
    checkShare("probability", options.probability)
  } else {
    checkInteger("additiveIncreaseBps", options.additiveIncreaseBps, 0)
    checkInteger("minRateBps", options.minRateBps, 1)
    checkWithin("probability", options.probability, 0, 1)
    const { random } = options
    checkBoolean("varWin", options.varWin)
    check("random", random, random === undefined || random instanceof GlibcRandom, "a GlibcRandom")
  }
}
