import { type Ack, AckController, type PathInfo, startWindow, type Time, windowAt } from "@rdmakit/protocol"
import { type DctcpNs3Options, defaults } from "./DctcpOptions.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12

/**
 * DCTCP as HPCC's ns-3 code has it (CC_MODE 8), to the last bit: a rate takes the place of the window, starts at the
 * line's and is truncated to whole bit/s; marked packets are counted, and divided by the packets that were out as the
 * round trip began.
 *
 * It differs from RFC 8257 in that the marks of the first round trip are counted with the second's, that a round trip
 * whose first acknowledgement is marked does not raise the rate, and that losses change nothing.
 */
export class DctcpNs3 extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s, an integer. */
  rate: number = 0
  window: number = 0

  private readonly lineRateBps: number = 0
  private readonly minRateBps: number = 0
  private readonly additiveIncreaseBps: number = 0
  private readonly g: number = 0
  private readonly packetBytes: number = 0
  private readonly windowBytes: number = 0
  private readonly variableWindow: boolean

  private alpha = 1
  private marked = 0
  private batchPackets = 0
  private lastUpdateSequence = 0
  /** The rate was cut, and what was out then is not yet acknowledged (CWR). */
  private reduced = false
  private reducedUntil = 0

  private estimates = 0
  private increases = 0
  private decreases = 0

  constructor(options: DctcpNs3Options, path: PathInfo) {
    super()
    const lineRateBps = Math.trunc(path.lineRateBps)
    this.lineRateBps = lineRateBps
    this.minRateBps = Math.min(options.minRateBps ?? defaults.minRateBps, lineRateBps)
    this.additiveIncreaseBps =
      options.additiveIncreaseBps ?? Math.min(lineRateBps, Math.trunc((path.mtuBytes * BIT_PS) / path.baseRttPs))
    this.g = options.g ?? defaults.g
    this.packetBytes = path.mtuBytes
    this.windowBytes = startWindow(options.window, path)
    this.variableWindow = options.window === "variable" && this.windowBytes < Infinity
    this.rate = lineRateBps
    this.window = this.windowBytes
  }

  onAck(_now: Time, ack: Ack): boolean {
    const { sequence, sent, congestion } = ack
    if (congestion) this.marked++
    const newBatch = sequence > this.lastUpdateSequence
    if (newBatch) this.estimate(sequence, sent)
    if (this.reduced && sequence > this.reducedUntil) this.reduced = false
    let ran = false
    if (congestion && !this.reduced) {
      const rate = Math.trunc(this.rate * (1 - this.alpha / 2))
      this.decreases++
      this.setRate(rate < this.minRateBps ? this.minRateBps : rate)
      this.reduced = true
      this.reducedUntil = sent
      ran = true
    }
    if (newBatch && !this.reduced) {
      const rate = this.rate + this.additiveIncreaseBps
      this.increases++
      this.setRate(rate > this.lineRateBps ? this.lineRateBps : rate)
      ran = true
    }
    return ran
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      alpha: this.alpha,
      marked: this.marked,
      batchPackets: this.batchPackets,
      lastUpdateSequence: this.lastUpdateSequence,
      reduced: this.reduced ? 1 : 0,
      reducedUntil: this.reducedUntil,
      estimates: this.estimates,
      increases: this.increases,
      decreases: this.decreases,
    }
  }

  /** The share of marked packets in the round trip that ends, smoothed; and how many packets the next one has. */
  private estimate(sequence: number, sent: number): void {
    if (this.lastUpdateSequence === 0) {
      this.batchPackets = Math.floor(sent / this.packetBytes) + 1
    } else {
      const share = Math.min(1, this.marked / this.batchPackets)
      this.alpha = (1 - this.g) * this.alpha + this.g * share
      this.marked = 0
      this.batchPackets = batchOf(sent - sequence, this.packetBytes)
      this.estimates++
    }
    this.lastUpdateSequence = sent
  }

  private setRate(rate: number): void {
    if (rate === this.rate) return
    this.rate = rate
    if (this.variableWindow) this.window = windowAt(this.windowBytes, rate, this.lineRateBps)
  }
}

/**
 * Packets of the next batch. Where more is acknowledged than sent, which a sender that goes back twice may see, what is
 * out is an unsigned difference in the reference, and the batch the lower 32 bits of what that gives.
 */
const batchOf = (outBytes: number, packetBytes: number): number =>
  outBytes >= 0
    ? Math.floor(outBytes / packetBytes) + 1
    : Number(BigInt.asUintN(32, BigInt.asUintN(64, BigInt(outBytes)) / BigInt(packetBytes) + 1n))
