import {
  type Ack,
  AckController,
  type ControllerFactory,
  checkLineRate,
  checkMtu,
  FlightSize,
  hasFields,
  OptionError,
  optionChecks,
  type PathInfo,
  sharedByPath,
  type Time,
} from "@rdmakit/protocol"

export interface HalvingOptions {
  /** What a loss leaves of what was out: above 0, at most 1. Default 0.5. */
  readonly beta?: number
  /** Window of a flow that begins, whole packets, at least 1. Default 10. */
  readonly firstPackets?: number
}

/** The package's own error. Whoever catches an `OptionError` is told the option, what it was and what was expected. */
export class HalvingOptionsError extends OptionError {
  readonly _tag = "HalvingOptionsError"
  override readonly name = "HalvingOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("halving", option, value, expected)
  }
}

/** Checks that throw it. */
const { check, checkInteger, checkShare } = optionChecks(HalvingOptionsError)

/** What follows from options and path: one object for all flows on paths that are alike. */
const reckon = ({ beta = 0.5, firstPackets = 10 }: HalvingOptions, { lineRateBps, mtuBytes }: PathInfo) => {
  checkLineRate(check, lineRateBps)
  checkMtu(check, mtuBytes)
  return { beta, rateBps: lineRateBps, packetBytes: mtuBytes, firstBytes: firstPackets * mtuBytes }
}
type Law = ReturnType<typeof reckon>

/** A window that grows by a packet a round trip; a loss leaves half of what was out, once for a window of data. */
class Halving extends AckController {
  readonly rate: number
  window: number
  private readonly law: Law
  private readonly flight = new FlightSize()
  /** The end of what was out at the last loss. */
  private recoverUntil = 0

  constructor(law: Law) {
    super()
    this.law = law
    this.rate = law.rateBps
    this.window = law.firstBytes
  }

  override onSent(_now: Time, bytes: number): void {
    this.flight.onSent(bytes, this.recoverUntil)
  }

  onAck(_now: Time, ack: Ack): boolean {
    // Before anything else: from here on `flight` is as the transport is.
    this.flight.onAck(ack)
    const { packetBytes } = this.law
    // It grows while it is what limits the flow, and not while a loss is repaired.
    const isFull = this.flight.bytes + ack.bytes + packetBytes > this.window
    if (ack.bytes === 0 || ack.sequence < this.recoverUntil || !isFull) return false
    this.window += (packetBytes * ack.bytes) / this.window
    return true
  }

  override onLoss(_now: Time, timeout: boolean): boolean {
    if (this.flight.acknowledged < this.recoverUntil && !timeout) return false
    this.recoverUntil = this.flight.highest
    // RFC 5681 §3.1, equation 4: of what was out, which is less than the window where something else was the limit.
    this.window = Math.max(this.law.beta * this.flight.bytes, 2 * this.law.packetBytes)
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return { windowBytes: this.window, flightBytes: this.flight.bytes }
  }
}

/** @throws HalvingOptionsError: of options here, of a path when a flow begins */
export const halving = (options: HalvingOptions = {}): ControllerFactory => {
  check("options", options, hasFields(options), "an object")
  checkShare("beta", options.beta)
  checkInteger("firstPackets", options.firstPackets, 1)
  const lawOf = sharedByPath((path) => reckon(options, path))
  return { name: "halving", needs: [], make: (_now, path) => new Halving(lawOf(path)) }
}
