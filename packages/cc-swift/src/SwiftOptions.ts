import {
  type Ack,
  checkBaseRtt,
  checkLineRate,
  checkMtu,
  hasFields,
  OptionError,
  optionChecks,
  type PathInfo,
} from "@rdmakit/protocol"

/** Swift as its paper has it (Kumar et al., SIGCOMM 2020, Algorithm 1 and §3.5). Windows are in packets, times in ps. */
export interface SwiftOptions {
  /** The only one, and the default. */
  readonly variant?: "paper"
  /**
   * Base target of the fabric delay, ps. Above 0. Default 25 µs, the paper's testbed, or twice the base RTT where that is
   * more. One that is given is taken as it is: at or below the base RTT it leaves every flow at its least window.
   */
  readonly baseTargetPs?: number
  /** ħ, what each hop adds to the target, ps. At least 0. Default 1/6.55 of the base target (htsim). */
  readonly hopScalePs?: number
  /** Switches on a path, where acknowledgements do not tell. At least 0. Default 0: no scaling by topology. */
  readonly hops?: number
  /** fs_range, the most that a small window adds to the target, ps. At least 0. Default five base targets (htsim). */
  readonly flowScalingRangePs?: number
  /** fs_min_cwnd: at and below this window the target is raised by the whole range, packets. Above 0. Default 0.1 (htsim). */
  readonly flowScalingMinPackets?: number
  /** fs_max_cwnd: from this window on the target is not raised, packets. Above the former. Default 100 (htsim). */
  readonly flowScalingMaxPackets?: number
  /** ai, packets a round trip. Above 0. Default 1 (htsim). */
  readonly additiveIncreasePackets?: number
  /** β, above 0 to 1. Default 0.8 (htsim). */
  readonly beta?: number
  /** max_mdf, the most that one decrease takes of a window, above 0 and below 1. Default 0.5 (htsim). */
  readonly maxMdf?: number
  /** min_cwnd, packets. Above 0. Default 0.01 (htsim: 10 bytes). */
  readonly minWindowPackets?: number
  /** max_cwnd, packets. Not below the least. Default what the line carries in the largest target. */
  readonly maxWindowPackets?: number
  /** First window, packets. Above 0. Default the bandwidth-delay product: the paper names none. */
  readonly initialWindowPackets?: number
  /** RETX_RESET_THRESHOLD: timeouts in a row that bring the least window. Integer, at least 1. Default 5 (htsim). */
  readonly resetAfter?: number
  /** Target of the endpoint delay, ps. Above 0. Default 100 µs (the paper's production setting for engines). */
  readonly endpointTargetPs?: number
  /**
   * The endpoints' share of an acknowledgement's RTT, ps; NaN where it cannot be told. Default: none: all delay is the
   * fabric's, and there is no endpoint window. `Ack` does not carry it: this is for transports whose own does.
   */
  readonly endpointDelayPs?: (ack: Ack) => number
}

/** An option, or a property of the path, that Swift cannot work with. */
export class SwiftOptionsError extends OptionError {
  readonly _tag = "SwiftOptionsError"
  override readonly name = "SwiftOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("swift", option, value, expected)
  }
}

const { check, checkAbove, checkAtLeast, checkInteger, checkShare } = optionChecks(SwiftOptionsError)

type Name = keyof SwiftOptions

/** Throws `SwiftOptionsError` at the first option that is out of its range. */
export const checkOptions = (options: SwiftOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant = "paper", maxMdf = 0.5 } = options
  check("variant", variant, variant === "paper", "paper")
  const numbers = options as unknown as Readonly<Record<Name, number | undefined>>
  for (const name of positive) checkAbove(name, numbers[name], 0)
  for (const name of atLeastZero) checkAtLeast(name, numbers[name], 0)
  checkShare("beta", options.beta)
  check("maxMdf", maxMdf, Number.isFinite(maxMdf) && maxMdf > 0 && maxMdf < 1, "a number above 0, below 1")
  checkInteger("resetAfter", options.resetAfter, 1)
  const { flowScalingMinPackets: low = defaults.flowScalingMinPackets, flowScalingMaxPackets: high } = options
  check(
    "flowScalingMaxPackets",
    high ?? defaults.flowScalingMaxPackets,
    (high ?? defaults.flowScalingMaxPackets) > low,
    `above flowScalingMinPackets, ${low}`,
  )
  const { minWindowPackets: least = defaults.minWindowPackets, maxWindowPackets: most = Infinity } = options
  check("maxWindowPackets", most, most >= least, `at least minWindowPackets, ${least}`)
  const { endpointDelayPs } = options
  check(
    "endpointDelayPs",
    endpointDelayPs,
    endpointDelayPs === undefined || typeof endpointDelayPs === "function",
    "a function of an acknowledgement",
  )
}

const positive: ReadonlyArray<Name> = [
  "baseTargetPs",
  "flowScalingMinPackets",
  "flowScalingMaxPackets",
  "additiveIncreasePackets",
  "minWindowPackets",
  "maxWindowPackets",
  "initialWindowPackets",
  "endpointTargetPs",
]
const atLeastZero: ReadonlyArray<Name> = ["hopScalePs", "hops", "flowScalingRangePs"]

/** Throws `SwiftOptionsError` when the path has no line rate, base RTT or packet, by which windows and rates are reckoned. */
export const checkPath = ({ lineRateBps, baseRttPs, mtuBytes }: PathInfo): void => {
  checkLineRate(check, lineRateBps)
  checkBaseRtt(check, baseRttPs)
  checkMtu(check, mtuBytes)
}

/**
 * The targets are the paper's. It names none of the other constants; these are htsim's (swift.cpp), which calls them
 * guesses.
 */
export const defaults = {
  baseTargetPs: 25e6,
  endpointTargetPs: 100e6,
  hopsInBaseTarget: 6.55,
  flowScalingBaseTargets: 5,
  flowScalingMinPackets: 0.1,
  flowScalingMaxPackets: 100,
  additiveIncreasePackets: 1,
  beta: 0.8,
  maxMdf: 0.5,
  minWindowPackets: 0.01,
  resetAfter: 5,
} as const
