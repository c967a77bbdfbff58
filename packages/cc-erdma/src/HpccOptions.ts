import { checkBaseRtt, checkLineRate, hasFields, OptionError, optionChecks } from "@rdmakit/protocol"

/** What both variants have. */
interface FamilyOptions {
  /**
   * η, the utilisation aimed at. Above 1, for neither variant sees how far below it an idle link is: what it aims at is a
   * queue, of (η − 1) bandwidth-delay products by round trips. Default 1.2.
   */
  readonly target?: number
  /**
   * W_AI, bytes a round trip. At least 0. Default 1 % of the bandwidth-delay product: by the paper's rule,
   * W_AI = W_init · |1 − η| / N, for 20 flows. More flows than that keep a longer queue.
   */
  readonly additiveIncreaseBytes?: number
  /** Floor of the window, bytes. At least 1, and never above the bandwidth-delay product. Default a thousandth of it. */
  readonly minWindowBytes?: number
}

/** HPCC_RTT: utilisation from round trips. */
export interface HpccRttOptions extends FamilyOptions {
  readonly variant: "rtt"
  /** Delay above the shortest round trip that is no queue's, ps: jitter of hosts and of an overlay. At least 0. Default 0. */
  readonly slackPs?: number
}

/** HPCC_ECN: utilisation from the share of packets that were marked. */
export interface HpccEcnOptions extends FamilyOptions {
  readonly variant: "ecn"
  /**
   * What a marked packet stands for: the utilisation of a link whose queue is as long as where marking begins. Above
   * `target`. Default 2, a queue of one bandwidth-delay product.
   */
  readonly markedUtilisation?: number
}

export type HpccFamilyOptions = HpccRttOptions | HpccEcnOptions

/** η where nothing else is asked for. */
export const TARGET = 1.2
export const MARKED_UTILISATION = 2

/** An option, or a property of the path, that these controllers cannot work with. */
export class HpccFamilyError extends OptionError {
  readonly _tag = "HpccFamilyError"
  override readonly name = "HpccFamilyError"

  constructor(option: string, value: unknown, expected: string) {
    super("hpcc by rtt or ecn", option, value, expected)
  }
}

const { check, checkAbove, checkAtLeast } = optionChecks(HpccFamilyError)

/** Throws `HpccFamilyError` at the first option that is out of its range. */
export const checkOptions = (options: HpccFamilyOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant } = options
  check("variant", variant, variant === "rtt" || variant === "ecn", "rtt or ecn")
  checkAbove("target", options.target, 1)
  checkAtLeast("additiveIncreaseBytes", options.additiveIncreaseBytes, 0)
  checkAtLeast("minWindowBytes", options.minWindowBytes, 1)
  if (options.variant === "rtt") {
    checkAtLeast("slackPs", options.slackPs, 0)
  } else {
    const { target = TARGET, markedUtilisation = MARKED_UTILISATION } = options
    check(
      "markedUtilisation",
      markedUtilisation,
      Number.isFinite(markedUtilisation) && markedUtilisation > target,
      `a finite number above target, ${target}`,
    )
  }
}

/** Throws `HpccFamilyError` when the path has no line rate or no base RTT, both of which are divided by. */
export const checkPath = (lineRateBps: number, baseRttPs: number): void => {
  checkLineRate(check, lineRateBps)
  checkBaseRtt(check, baseRttPs)
}
