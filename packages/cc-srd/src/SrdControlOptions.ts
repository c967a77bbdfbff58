import {
  checkBaseRtt,
  checkLineRate,
  checkMtu,
  hasFields,
  OptionError,
  optionChecks,
  type PathInfo,
} from "@rdmakit/protocol"

/** How the congestion control of SRD behaves. Its numbers are rdmakit's own: AWS has published none of them. */
export interface SrdControlOptions {
  /** Queueing delay that is aimed at, in base RTTs. Above 0. Default 0.5. */
  readonly targetShare?: number
  /** What a round trip takes away of the bytes in flight were all of it queueing above the target. Above 0, at most 1. Default 0.25. */
  readonly beta?: number
  /** What a round trip adds, in bandwidth-delay products of the line. Above 0, at most 1. Default 1/64. */
  readonly increaseShare?: number
  /** Rounds without congestion after which the increase doubles with each. Whole, at least 0. Default 5. */
  readonly fastAfterRounds?: number
  /** Delivery keeps up with sending as long as it has this share of its rate. 0 to 1. Default 0.9. */
  readonly keepsUp?: number
  /** In flight at first, in bandwidth-delay products of the line. Above 0. Default 1. */
  readonly initialShare?: number
  /** In flight at most, in bandwidth-delay products of the line. At least `initialShare`. Default 2. */
  readonly mostShare?: number
  /** In flight at least, in packets: below one there is a pause between packets. Above 0. Default 1/16. */
  readonly leastPackets?: number
}

/** An option, or a property of the path, that the control cannot work with. */
export class SrdControlError extends OptionError {
  readonly _tag = "SrdControlError"
  override readonly name = "SrdControlError"

  constructor(option: string, value: unknown, expected: string) {
    super("srd", option, value, expected)
  }
}

const { check, checkAbove, checkInteger, checkShare, checkWithin } = optionChecks(SrdControlError)

/** Bytes in flight at first, and at most, in bandwidth-delay products, where nothing else is asked for. */
export const INITIAL_SHARE = 1
export const MOST_SHARE = 2
/** A window of more is no least one, and far more would be no number. */
const LEAST_PACKETS_MAX = 1e6

/** Throws `SrdControlError` at the first option that is out of its range. */
export const checkOptions = (options: SrdControlOptions): void => {
  check("options", options, hasFields(options), "an object")
  checkAbove("targetShare", options.targetShare, 0)
  checkShare("beta", options.beta)
  checkShare("increaseShare", options.increaseShare)
  checkInteger("fastAfterRounds", options.fastAfterRounds, 0)
  const { initialShare = INITIAL_SHARE, mostShare = MOST_SHARE } = options
  checkWithin("keepsUp", options.keepsUp, 0, 1)
  checkAbove("initialShare", options.initialShare, 0)
  const isAtLeastFirst = Number.isFinite(mostShare) && mostShare >= initialShare
  check("mostShare", mostShare, isAtLeastFirst, "a finite number, at least initialShare")
  checkAbove("leastPackets", options.leastPackets, 0)
  const { leastPackets = 1 } = options
  check("leastPackets", leastPackets, leastPackets <= LEAST_PACKETS_MAX, `at most ${LEAST_PACKETS_MAX}`)
}

/** Throws `SrdControlError` when the path has no line rate, base RTT or packet, by which windows and rates are reckoned. */
export const checkPath = ({ lineRateBps, baseRttPs, mtuBytes }: PathInfo): void => {
  checkLineRate(check, lineRateBps)
  checkBaseRtt(check, baseRttPs)
  checkMtu(check, mtuBytes)
}
