import { checkBaseRtt, checkLineRate, hasFields, OptionError, optionChecks } from "@rdmakit/protocol"

/**
 * When a flow reacts (HPCC §3.2 and Figure 13).
 *
 * - `both`: every acknowledgement sets the rate, relative to a reference that moves once a round trip. This is HPCC.
 * - `per-ack`: every acknowledgement moves the reference too. It overreacts: many acknowledgements tell of one queue.
 * - `per-rtt`: one acknowledgement a round trip is used, the others are not even measured. It reacts late.
 */
export type HpccReaction = "both" | "per-ack" | "per-rtt"

/** HPCC as Algorithm 1 has it: a window, and the rate W / T that spreads it. */
export interface HpccPaperOptions {
  readonly variant: "paper"
  /** η, the utilisation aimed at. Above 0. Default 0.95 (HPCC §5.1). Above 1 it asks for a standing queue. */
  readonly eta?: number
  /** Additive increases in a row before a multiplicative one is forced. Integer, at least 0. Default 5 (HPCC §5.1). */
  readonly maxStage?: number
  /** W_AI, bytes. At least 0. Default 80 (HPCC §5.1). `additiveIncreaseBytes` computes it by the paper's rule. */
  readonly additiveIncreaseBytes?: number
  /**
   * Floor of the window, bytes. At least 1, and never above W_init. Default W_init / 100, what a least rate of 1 Gb/s
   * is to the reference's 100 Gb/s. The paper names none; a window below one packet still lets one packet out at a
   * time, and the rate keeps them apart.
   */
  readonly minWindowBytes?: number
  /** Default `both`. */
  readonly reaction?: HpccReaction
}

/** HPCC as the authors' ns-3 code has it: an integer rate, and a window that follows it. */
export interface HpccNs3Options {
  readonly variant: "ns3"
  /** U_TARGET. Above 0. Default 0.95 (run.py). */
  readonly eta?: number
  /** MI_THRESH. Integer, at least 0. Default 0 (run.py). */
  readonly maxStage?: number
  /** RATE_AI, bit/s. Integer, at least 0. Default 10/25000 of the line rate, 40 Mb/s at 100 Gb/s (run.py). */
  readonly additiveIncreaseBps?: number
  /** MIN_RATE, bit/s. Integer, at least 1. Default 1 Gb/s (run.py). A slower line lowers it to its own rate. */
  readonly minRateBps?: number
  /** FAST_REACT 1 is `both`, the default; FAST_REACT 0 is `per-rtt`. The reference has no `per-ack`. */
  readonly reaction?: HpccReaction
  /** MULTI_RATE: a reference rate for each hop, the least of them counts. Default false. */
  readonly multiRate?: boolean
  /** SAMPLE_FEEDBACK: a fast reaction passes over hops whose queue is empty. Default false. */
  readonly sampleFeedback?: boolean
  /** VAR_WIN: the window shrinks with the rate, rather than stay at `PathInfo.windowBytes`. Default true (run.py). */
  readonly varWin?: boolean
  /**
   * Divide by 0 where the reference does, by a window that is none (HAS_WIN 0) and by a time that did not pass, and go on
   * with what comes of it; and leave the rate as it is where its INT has no room for all hops, above five. Default false.
   * Of no use but to have the reference's own numbers.
   */
  readonly unguarded?: boolean
}

export type HpccOptions = HpccPaperOptions | HpccNs3Options

/** An option, or a property of the path, that HPCC cannot work with. */
export class HpccOptionsError extends OptionError {
  readonly _tag = "HpccOptionsError"
  override readonly name = "HpccOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("hpcc", option, value, expected)
  }
}

export const reactions = ["both", "per-ack", "per-rtt"] as const satisfies ReadonlyArray<HpccReaction>

const { check, checkAbove, checkAtLeast, checkBoolean, checkInteger, checkWord } = optionChecks(HpccOptionsError)

/** Throws `HpccOptionsError` at the first option that is out of its range. */
export const checkOptions = (options: HpccOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant } = options
  check("variant", variant, variant === "paper" || variant === "ns3", "paper or ns3")
  checkAbove("eta", options.eta, 0)
  checkInteger("maxStage", options.maxStage, 0)
  checkWord("reaction", options.reaction, reactions)
  if (options.variant === "paper") {
    checkAtLeast("additiveIncreaseBytes", options.additiveIncreaseBytes, 0)
    checkAtLeast("minWindowBytes", options.minWindowBytes, 1)
  } else {
    checkInteger("additiveIncreaseBps", options.additiveIncreaseBps, 0)
    checkInteger("minRateBps", options.minRateBps, 1)
    for (const option of ["multiRate", "sampleFeedback", "varWin", "unguarded"] as const)
      checkBoolean(option, options[option])
  }
}

/** Throws `HpccOptionsError` when the path has no line rate or no base RTT, both of which HPCC divides by. */
export const checkPath = (lineRateBps: number, baseRttPs: number): void => {
  checkLineRate(check, lineRateBps)
  checkBaseRtt(check, baseRttPs)
}
