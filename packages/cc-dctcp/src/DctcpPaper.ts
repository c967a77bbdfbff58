import { type Ack, AckController, FlightSize, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { type DctcpPaperOptions, defaults } from "./DctcpOptions.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12
/** Default windows, packets (RFC 5681 §3.1, eq. 4; RFC 6928). */
const MIN_WINDOW_PACKETS = 2
const INITIAL_WINDOW_PACKETS = 10
/** The least retransmission timeout of Linux, and of `transport-tcp`: 200 ms. */
const LEAST_TIMEOUT_PS = 200e9
/** Where a slow start ends by itself: it does not (RFC 5681 §3.1: as high as possible). */
const NO_THRESHOLD = Number.MAX_SAFE_INTEGER

/**
 * DCTCP as RFC 8257 §3.3 writes it down: the share of marked bytes is measured over windows of data and smoothed into α;
 * a mark cuts the congestion window by α/2, once for every window of data. All else is TCP's (RFC 5681): growth by one
 * packet a round trip, half of what was out at a loss, one packet after a timeout, the first window after a silence.
 *
 * What TCP leaves to others is settled here. The window grows only while it is what limits the flow. Recovery is
 * go-back-N, so at a loss nothing is inflated. Where the run gives no window, its own is reckoned from the line rate and
 * the base RTT: without a window there is no DCTCP.
 */
export class DctcpPaper extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s. */
  rate: number = 0
  /** The congestion window, whole bytes. */
  window: number = 0

  private readonly lineRateBps: number = 0
  private readonly lineWindowBytes: number = 0
  private readonly g: number = 0
  private readonly packetBytes: number = 0
  private readonly additiveIncreaseBytes: number = 0
  private readonly minWindowBytes: number = 0
  private readonly maxWindowBytes: number = 0
  /** IW of RFC 5681. */
  private readonly initialWindowBytes: number = 0
  private readonly leastTimeoutPs: number = 0
  private readonly pacing: boolean

  private windowBytes: number = 0
  private thresholdBytes: number = 0
  private alpha = 1
  /** DCTCP.BytesAcked, DCTCP.BytesMarked, DCTCP.WindowEnd. */
  private ackedBytes = 0
  private markedBytes = 0
  private windowEnd = 0
  /** End of the window of data in which a mark, or a loss, has been reacted to. */
  private reducedUntil = 0
  private recoverUntil = 0
  private readonly flight = new FlightSize()
  /** When something was sent last, ps; NEVER before that. */
  private sentPs: number = NEVER

  private estimates = 0
  private marks = 0
  private increases = 0
  private decreases = 0
  private losses = 0

  constructor(options: DctcpPaperOptions, path: PathInfo) {
    super()
    const { mtuBytes } = path
    this.lineRateBps = path.lineRateBps
    this.lineWindowBytes = path.windowBytes > 0 ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / BIT_PS
    this.g = options.g ?? defaults.g
    this.packetBytes = mtuBytes
    this.additiveIncreaseBytes = options.additiveIncreaseBytes ?? mtuBytes
    this.maxWindowBytes = options.maxWindowBytes ?? Infinity
    this.minWindowBytes = Math.min(options.minWindowBytes ?? MIN_WINDOW_PACKETS * mtuBytes, this.maxWindowBytes)
    this.pacing = options.pacing ?? false
    const slow = options.start === "slow-start"
    const first = slow ? (options.initialWindowBytes ?? INITIAL_WINDOW_PACKETS * mtuBytes) : this.lineWindowBytes
    this.setWindow(first, this.minWindowBytes)
    this.initialWindowBytes = this.windowBytes
    this.leastTimeoutPs = options.leastTimeoutPs ?? (slow ? LEAST_TIMEOUT_PS : Infinity)
    this.thresholdBytes = slow ? NO_THRESHOLD : this.windowBytes
  }

  /**
   * RFC 5681 §4.1, which RFC 8257 §3.4 leaves as it is: after a silence RW = min(IW, cwnd), and α and the threshold stay. It
   * is told of the first packet once that has left, which any window lets go.
   */
  override onSent(now: Time, bytes: number): void {
    if (
      now - this.sentPs > this.leastTimeoutPs &&
      this.flight.bytes === 0 &&
      this.windowBytes > this.initialWindowBytes
    )
      this.setWindow(this.initialWindowBytes, 1)
    this.sentPs = now
    this.flight.onSent(bytes, this.recoverUntil)
  }

  onAck(_now: Time, ack: Ack): boolean {
    const { sequence, sent, bytes } = ack
    this.flight.onAck(ack)
    this.ackedBytes += bytes
    if (ack.congestion) {
      this.markedBytes += bytes
      this.marks++
    }
    if (sequence > this.windowEnd) this.estimate(sent)
    if (ack.congestion) return this.reduce(sequence, sent)
    // What was out before this acknowledgement filled the window, to a packet.
    if (bytes === 0 || sent - sequence + bytes + this.packetBytes <= this.windowBytes) return false
    this.increases++
    const slow = this.windowBytes < this.thresholdBytes
    const step = slow ? Math.min(bytes, this.packetBytes) : (this.additiveIncreaseBytes * bytes) / this.windowBytes
    this.setWindow(this.windowBytes + step, 1)
    return true
  }

  /** RFC 8257 §3.5: a loss is met as by TCP, which halves what was out (RFC 5681 §3.1, eq. 4). */
  override onLoss(_now: Time, timeout: boolean): boolean {
    const again = this.flight.acknowledged < this.recoverUntil
    if (again && !timeout) return false
    this.losses++
    this.recoverUntil = this.flight.highest
    this.reducedUntil = this.flight.highest
    // Another timeout of the same data leaves the threshold (RFC 5681 §3.1).
    if (!again) {
      const outBytes = Math.min(this.flight.bytes, this.windowBytes)
      this.thresholdBytes = Math.max(outBytes / 2, this.minWindowBytes)
    }
    if (timeout) {
      this.setWindow(this.packetBytes, 1)
    } else this.setWindow(this.thresholdBytes, this.minWindowBytes)
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      alpha: this.alpha,
      windowBytes: this.windowBytes,
      thresholdBytes: this.thresholdBytes,
      ackedBytes: this.ackedBytes,
      markedBytes: this.markedBytes,
      windowEnd: this.windowEnd,
      estimates: this.estimates,
      marks: this.marks,
      increases: this.increases,
      decreases: this.decreases,
      losses: this.losses,
    }
  }

  /** Steps 5 to 8: a window of data has been acknowledged. */
  private estimate(sent: number): void {
    const share = this.ackedBytes > 0 ? this.markedBytes / this.ackedBytes : 0
    this.alpha = this.alpha * (1 - this.g) + this.g * share
    this.windowEnd = sent
    this.ackedBytes = 0
    this.markedBytes = 0
    this.estimates++
  }

  /** Step 9. */
  private reduce(sequence: number, sent: number): boolean {
    if (!(sequence > this.reducedUntil)) return false
    this.reducedUntil = sent
    this.decreases++
    // After a timeout the window is below its floor: a mark does not raise it there.
    const leastBytes = Math.min(this.minWindowBytes, this.windowBytes)
    this.setWindow(this.windowBytes * (1 - this.alpha / 2), leastBytes)
    this.thresholdBytes = Math.max(this.windowBytes, this.minWindowBytes)
    return true
  }

  private setWindow(windowBytes: number, leastBytes: number): void {
    this.windowBytes = Math.min(Math.max(windowBytes, leastBytes), this.maxWindowBytes)
    this.window = Math.max(1, Math.floor(this.windowBytes))
    const share = this.pacing ? Math.min(1, this.windowBytes / this.lineWindowBytes) : 1
    this.rate = this.lineRateBps * share
  }
}
