import type { PathInfo } from "@rdmakit/protocol"
import { INITIAL_SHARE, MOST_SHARE, type SrdControlOptions } from "./SrdControlOptions.ts"

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

  /** @param options that have been checked, as the path has been */
  constructor(options: SrdControlOptions, path: PathInfo) {
    const { targetShare = 0.5, beta = 0.25, increaseShare = 1 / 64, fastAfterRounds = 5, keepsUp = 0.9 } = options
    const { initialShare = INITIAL_SHARE, mostShare = MOST_SHARE, leastPackets = 1 / 16 } = options
    const { lineRateBps, baseRttPs, mtuBytes } = path
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
