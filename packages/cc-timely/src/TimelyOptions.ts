import { checkLineRate, hasFields, OptionError, optionChecks, type RateWindow } from "@rdmakit/protocol"

/**
 * The window that bounds the bytes in flight (HPCC §5.1 calls it TIMELY+win).
 *
 * - `none`: pacing alone, as TIMELY has it.
 * - `fixed`: `PathInfo.windowBytes`.
 * - `variable`: that window times the rate over the line rate, whole bytes, at least 1.
 *
 * Where the path gives no window (`windowBytes` 0) there is none.
 */
export type TimelyWindow = RateWindow

/** What the three variants share. */
export interface TimelyOptionsBase {
  /** Weight of the newest RTT difference in the moving average, above 0 to 1. Default 0.875 (ECN or Delay; HPCC's ns-3 code). */
  readonly alpha?: number
  /** β, the multiplicative decrease factor, above 0 to 1. Default 0.8; `patched` 0.008. */
  readonly beta?: number
  /** T_low, ps. At least 0. Below it the rate only rises. Default 50 µs. */
  readonly lowThresholdPs?: number
  /** T_high, ps. Above T_low. Above it the rate falls by the RTT alone. Default 500 µs; `patched` 1 ms. */
  readonly highThresholdPs?: number
  /** What normalises the gradient, ps. Above 0: a gradient is divided by it. Default 20 µs; `patched` 2 µs. */
  readonly minRttPs?: number
  /** Default `none`. */
  readonly window?: TimelyWindow
}

/** TIMELY as its authors' paper has it. */
export interface TimelyPaperOptions extends TimelyOptionsBase {
  readonly variant: "paper"
  /** δ, bit/s. At least 0. Default 10 Mb/s (TIMELY §4.3). */
  readonly additiveIncreaseBps?: number
  /** Bytes between two completion events, 16 to 64 KiB in the paper. At least 1. Default 64 KiB. */
  readonly segmentBytes?: number
  /** Completions with a gradient of at most 0, in a row, before δ counts N times. Integer, at least 1. Default 5. */
  readonly hyperAfter?: number
  /** N. At least 1. Default 5 (TIMELY §4.3). */
  readonly hyperFactor?: number
  /** Floor of the rate, bit/s. Above 0. Default 100 Mb/s, as in HPCC's ns-3 code. The paper names none. */
  readonly minRateBps?: number
  /**
   * What one decrease leaves of the rate at least, 0 to below 1. Default 0.5, as in the code the authors published; in
   * the paper's text it is 0, from where a flow that learns by its own segments takes long to come back.
   */
  readonly leastFactor?: number
}

/** TIMELY as HPCC's ns-3 code has it: integer rates, RTTs in whole ns, one update a round trip. */
export interface TimelyNs3Options extends TimelyOptionsBase {
  readonly variant: "ns3"
  /** RATE_AI, bit/s. Integer, at least 0. Default 1/1000 of the line rate, 100 Mb/s at 100 Gb/s (run.py). */
  readonly additiveIncreaseBps?: number
  /** RATE_HAI, bit/s. Integer, at least 0. Default 1/200 of the line rate, 500 Mb/s at 100 Gb/s (run.py). */
  readonly hyperIncreaseBps?: number
  /** MIN_RATE, bit/s. Integer, at least 1. Default 1 Gb/s (run.py). A slower line lowers it to its own rate. */
  readonly minRateBps?: number
}

/** TIMELY patched for a fixed point ("ECN or Delay" §4), in the form eRPC gave it. */
export interface TimelyPatchedOptions extends TimelyOptionsBase {
  readonly variant: "patched"
  /**
   * `patched` (the default): decrease in proportion to how far the RTT is above T_low, weighted by the gradient.
   * `gradient`: TIMELY's own law under eRPC's scaling by elapsed time, which is what eRPC ships switched on.
   */
  readonly law?: "patched" | "gradient"
  /** δ, bit/s. At least 0. Default 40 Mb/s (eRPC: 5 MB/s). */
  readonly additiveIncreaseBps?: number
  /** Floor of the rate, bit/s. Above 0. Default 120 Mb/s (eRPC: 15 MB/s). */
  readonly minRateBps?: number
}

export type TimelyOptions = TimelyPaperOptions | TimelyNs3Options | TimelyPatchedOptions

/** An option, or a property of the path, that TIMELY cannot work with. */
export class TimelyOptionsError extends OptionError {
  readonly _tag = "TimelyOptionsError"
  override readonly name = "TimelyOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("timely", option, value, expected)
  }
}

const { check, checkInteger, checkAtLeast, checkAbove, checkShare, checkWord } = optionChecks(TimelyOptionsError)

/** Throws `TimelyOptionsError` at the first option that is out of its range. */
export const checkOptions = (options: TimelyOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant } = options
  check("variant", variant, ["paper", "ns3", "patched"].includes(variant), "paper, ns3 or patched")
  checkShare("alpha", options.alpha)
  checkShare("beta", options.beta)
  checkAbove("minRttPs", options.minRttPs, 0)
  checkAtLeast("lowThresholdPs", options.lowThresholdPs, 0)
  // "patched" measures how far an RTT is above T_low in units of T_low.
  if (variant === "patched") checkAbove("lowThresholdPs", options.lowThresholdPs, 0)
  const low = options.lowThresholdPs ?? defaults.lowThresholdPs
  const { highThresholdPs: high = (variant === "patched" ? patchedDefaults : defaults).highThresholdPs } = options
  check("highThresholdPs", high, Number.isFinite(high) && high > low, `a finite time above T_low, ${low} ps`)
  checkWord("window", options.window, ["none", "fixed", "variable"])
  if (options.variant === "ns3") {
    checkInteger("additiveIncreaseBps", options.additiveIncreaseBps, 0)
    checkInteger("hyperIncreaseBps", options.hyperIncreaseBps, 0)
    checkInteger("minRateBps", options.minRateBps, 1)
    return
  }
  checkAtLeast("additiveIncreaseBps", options.additiveIncreaseBps, 0)
  checkAbove("minRateBps", options.minRateBps, 0)
  if (options.variant === "paper") {
    checkAtLeast("segmentBytes", options.segmentBytes, 1)
    checkInteger("hyperAfter", options.hyperAfter, 1)
    checkAtLeast("hyperFactor", options.hyperFactor, 1)
    const { leastFactor = 0.5 } = options
    check(
      "leastFactor",
      leastFactor,
      Number.isFinite(leastFactor) && leastFactor >= 0 && leastFactor < 1,
      "a number, at least 0, below 1",
    )
  } else {
    checkWord("law", options.law, ["patched", "gradient"])
  }
}

/** Throws `TimelyOptionsError` when the path has no line rate. */
export const checkPath = (lineRateBps: number): void => checkLineRate(check, lineRateBps)

/** TIMELY §4.3, and the attributes of HPCC's ns-3 code. */
export const defaults = {
  alpha: 0.875,
  beta: 0.8,
  lowThresholdPs: 50e6,
  highThresholdPs: 500e6,
  minRttPs: 20e6,
} as const

/** eRPC's timely.h with its patch on. */
export const patchedDefaults = {
  alpha: 0.875,
  beta: 0.008,
  lowThresholdPs: 50e6,
  highThresholdPs: 1000e6,
  minRttPs: 2e6,
} as const
