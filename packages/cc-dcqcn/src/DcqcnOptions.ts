import { OptionError, type RateWindow } from "@rdmakit/protocol"

/**
 * The window that bounds the bytes in flight (HPCC §5.1 calls it DCQCN+win).
 *
 * - `none`: pacing alone, as DCQCN has it.
 * - `fixed`: `PathInfo.windowBytes`.
 * - `variable`: that window times the rate over the line rate, whole bytes, at least 1.
 *
 * Where the path gives no window (`windowBytes` 0) there is none.
 */
export type DcqcnWindow = RateWindow

/**
 * How a flow learns of congestion.
 *
 * - `echo`: acknowledgements that echo a mark (`Ack.congestion`) are notifications, at most one per `cnpIntervalPs`;
 *   where CNPs come as well, each counts, and opens such an interval.
 * - `cnp`: CNPs alone (`onCnp`). Whoever sends them keeps their distance.
 */
export type DcqcnNotification = "echo" | "cnp"

/**
 * What comes first where both are due: the cut of the rate (DCQCN §3.1, Equation 1), or the update of α that the cut
 * then uses (HPCC's ns-3 code, by 1 ns; the ns-3 code of DCQCN's authors).
 */
export type DcqcnOrder = "cut-first" | "alpha-first"

/** What the three variants share. */
export interface DcqcnOptionsBase {
  /** Default `none`. */
  readonly window?: DcqcnWindow
  /** Default `echo`. */
  readonly notification?: DcqcnNotification
  /**
   * Least time between two notifications taken from acknowledgements, ps; at least 0, which takes every one. Default:
   * `paper` 50 µs (DCQCN §3.1, N), `vendor` 4 µs (min_time_between_cnps), `ns3` 0.
   */
  readonly cnpIntervalPs?: number
  /** Default: `paper` `cut-first`, `vendor` and `ns3` `alpha-first`. */
  readonly order?: DcqcnOrder
}

/** DCQCN as its paper has it. */
export interface DcqcnPaperOptions extends DcqcnOptionsBase {
  readonly variant: "paper"
  /** g, weight of the newest sample in α, above 0 to 1. Default 1/256 (DCQCN §5.2). */
  readonly gain?: number
  /** α before the first notification, 0 to 1. Default 1 (DCQCN §3.1). */
  readonly initialAlpha?: number
  /** K: without a notification for so long, α decays; again after each such time. ps, above 0. Default 55 µs (DCQCN §3.1). */
  readonly alphaTimerPs?: number
  /** Time between two increases by the timer, ps. Above 0. Default 55 µs (DCQCN §5.2). */
  readonly increaseTimerPs?: number
  /** B, payload bytes between two increases by the byte counter; 0: there is none. Default 10 MB (DCQCN §5.2). */
  readonly byteCounterBytes?: number
  /** F, increases by one counter that end fast recovery. Integer, at least 0. Default 5 (DCQCN §3.1). */
  readonly fastRecoverySteps?: number
  /** R_AI, bit/s. At least 0. Default 40 Mb/s (DCQCN §3.1, for 40 Gb/s). */
  readonly additiveIncreaseBps?: number
  /** R_HAI, bit/s. At least 0. Default 200 Mb/s (RATE_HAI of the authors' ns-3 code, for 40 Gb/s). */
  readonly hyperIncreaseBps?: number
  /** Floor of the rate, bit/s. Above 0. Default 100 Mb/s (MinRate of the authors' ns-3 code). The paper names none. */
  readonly minRateBps?: number
}

/** DCQCN as ConnectX adapters have it: the parameters of NVIDIA's "DCQCN parameters", in rdmakit's units. */
export interface DcqcnVendorOptions extends DcqcnOptionsBase {
  readonly variant: "vendor"
  /** dce_tcp_g, 1/1024: weight of the old α. 0 to 1023. Default 1019. */
  readonly dceTcpG?: number
  /** dce_tcp_rtt: α is updated once in this time, ps. Above 0. Default 1 µs. */
  readonly dceTcpRttPs?: number
  /** initial_alpha_value, 1/1024: α at the first notification. 0 to 1024. Default 1023. */
  readonly initialAlphaValue?: number
  /** rate_to_set_on_first_cnp, bit/s: rate and target at the first notification. At least 0; 0, the default, is a share of the line. */
  readonly rateToSetOnFirstCnpBps?: number
  /** What 0 stands for there, as a share of the line rate: above 0 to 1. Default 0.85; 0.5 in earlier firmware. */
  readonly firstCnpRateFactor?: number
  /** rate_reduce_monitor_period: one cut at most in this time, ps. Above 0. Default 4 µs. */
  readonly rateReduceMonitorPeriodPs?: number
  /** rpg_min_dec_fac, %: what one cut leaves of the rate at least. 0 to 100. Default 50. */
  readonly rpgMinDecFac?: number
  /** rpg_gd: a cut takes α · 2^(10 − rpg_gd) of the rate. 10 or 11. Default 11, half of α. */
  readonly rpgGd?: number
  /** rpg_min_rate, bit/s. Above 0. Default 1 Mb/s. */
  readonly rpgMinRateBps?: number
  /** rpg_max_rate, bit/s. At least 0; 0, the default, is the line rate. */
  readonly rpgMaxRateBps?: number
  /** rpg_time_reset: time between two increases by the timer, ps. Above 0. Default 300 µs. */
  readonly rpgTimeResetPs?: number
  /** rpg_byte_reset, payload bytes between two increases by the byte counter; 0: none. Default 32,767 units of 64 bytes. */
  readonly rpgByteResetBytes?: number
  /** rpg_threshold: increases by one counter in each phase. Integer, at least 0. Default 1. */
  readonly rpgThreshold?: number
  /** rpg_ai_rate, bit/s. At least 0. Default 5 Mb/s. */
  readonly rpgAiRateBps?: number
  /** rpg_hai_rate, bit/s. At least 0. Default 50 Mb/s. */
  readonly rpgHaiRateBps?: number
  /** clamp_tgt_rate: every cut brings the target down to the rate before it. Default false. */
  readonly clampTgtRate?: boolean
  /** clamp_tgt_rate_after_time_inc: so does a cut after an increase by the timer, not only by the byte counter. Default true. */
  readonly clampTgtRateAfterTimeInc?: boolean
}

/** DCQCN as HPCC's ns-3 code has it (CC_MODE 1): integer rates, no byte counter. */
export interface DcqcnNs3Options extends DcqcnOptionsBase {
  readonly variant: "ns3"
  /** EWMA_GAIN, g: 0 to 1. Default 1/256 (run.py). */
  readonly ewmaGain?: number
  /** ALPHA_RESUME_INTERVAL: α is updated once in this time, ps. Above 0. Default 1 µs (run.py). */
  readonly alphaResumeIntervalPs?: number
  /** RATE_DECREASE_INTERVAL: one cut at most in this time, ps. Above 0. Default 4 µs (run.py). */
  readonly rateDecreaseIntervalPs?: number
  /** RP_TIMER: time between two increases, ps. Above 0. Default 300 µs (run.py). */
  readonly rpTimerPs?: number
  /** FAST_RECOVERY_TIMES: increases before the additive one. Integer, at least 0. Default 1 (run.py). */
  readonly fastRecoveryTimes?: number
  /** CLAMP_TARGET_RATE: every cut brings the target down, not only the first after an increase. Default false (run.py). */
  readonly clampTargetRate?: boolean
  /** RateOnFirstCnp: the rate is multiplied by it at the first notification. 0 to 1. Default 1 (rdma-hw.cc). */
  readonly rateOnFirstCnp?: number
  /** RATE_AI, bit/s. Integer, at least 0. Default 1/5000 of the line rate, 20 Mb/s at 100 Gb/s (run.py). */
  readonly additiveIncreaseBps?: number
  /** RATE_HAI, bit/s. Integer, at least 0. Default 1/500 of the line rate, 200 Mb/s at 100 Gb/s (run.py). */
  readonly hyperIncreaseBps?: number
  /** MIN_RATE, bit/s. Integer, at least 1. Default 1 Gb/s (run.py). A slower line lowers it to its own rate. */
  readonly minRateBps?: number
}

export type DcqcnOptions = DcqcnPaperOptions | DcqcnVendorOptions | DcqcnNs3Options

/** An option, or a property of the path, that DCQCN cannot work with. */
export class DcqcnOptionsError extends OptionError {
  readonly _tag = "DcqcnOptionsError"
  override readonly name = "DcqcnOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("dcqcn", option, value, expected)
  }
}
