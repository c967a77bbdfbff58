import { OptionError } from "@rdmakit/protocol"

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
  /** In flight at first, and at most, in bandwidth-delay products of the line. Above 0. Default 1 and 2. */
  readonly initialShare?: number
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
