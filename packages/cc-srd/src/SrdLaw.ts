import { checkBaseRtt, checkLineRate, hasFields, type PathInfo } from "@rdmakit/protocol"
import { SrdControlError, type SrdControlOptions } from "./SrdControlOptions.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12

/** The options as bytes and times of one kind of path; flows of a kind share them. */
export class SrdLaw {
  readonly lineRateBps: number
  readonly baseRttPs: number
  readonly mtuBytes: number
  readonly targetShare: number
  readonly beta: number
  readonly fastAfterRounds: number
  readonly keepsUp: number
  readonly increaseBytes: number
  readonly initialBytes: number
  readonly leastBytes: number
  readonly mostBytes: number

  /** @throws SrdControlError */
  constructor(options: SrdControlOptions, path: PathInfo) {
    check("options", options, hasFields(options), "an object")
    const { targetShare = 0.5, beta = 0.25, increaseShare = 1 / 64, fastAfterRounds = 5, keepsUp = 0.9 } = options
    const { initialShare = 1, mostShare = 2, leastPackets = 1 / 16 } = options
    const { lineRateBps, baseRttPs, mtuBytes } = path
    const finite = (option: string, value: number, most: number, expected: string): void =>
      check(option, value, Number.isFinite(value) && value > 0 && value <= most, expected)
    finite("targetShare", targetShare, Number.MAX_VALUE, "a finite number above 0")
    finite("beta", beta, 1, "a number above 0, at most 1")
    finite("increaseShare", increaseShare, 1, "a number above 0, at most 1")
    check(
      "fastAfterRounds",
      fastAfterRounds,
      Number.isInteger(fastAfterRounds) && fastAfterRounds >= 0,
      "an integer of at least 0",
    )
    check(
      "keepsUp",
      keepsUp,
      Number.isFinite(keepsUp) && keepsUp >= 0 && keepsUp <= 1,
      "a number of at least 0, at most 1",
    )
    finite("initialShare", initialShare, Number.MAX_VALUE, "a finite number above 0")
    check(
      "mostShare",
      mostShare,
      Number.isFinite(mostShare) && mostShare >= initialShare,
      "a finite number, at least initialShare",
    )
    finite("leastPackets", leastPackets, Number.MAX_VALUE, "a finite number above 0")
    checkLineRate(check, lineRateBps)
    checkBaseRtt(check, baseRttPs)
    const productBytes = Math.max(mtuBytes, (lineRateBps * baseRttPs) / BIT_PS)
    this.lineRateBps = lineRateBps
    this.baseRttPs = baseRttPs
    this.mtuBytes = mtuBytes
    this.targetShare = targetShare
    this.beta = beta
    this.fastAfterRounds = fastAfterRounds
    this.keepsUp = keepsUp
    this.increaseBytes = increaseShare * productBytes
    this.initialBytes = initialShare * productBytes
    this.mostBytes = mostShare * productBytes
    this.leastBytes = leastPackets * mtuBytes
  }
}

const check = (option: string, value: unknown, legal: boolean, expected: string): void => {
  if (!legal) throw new SrdControlError(option, value, expected)
}
