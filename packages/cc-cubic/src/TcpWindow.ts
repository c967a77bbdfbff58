import { type Ack, AckController, DOUBLE_ZERO, FlightSize, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { HyStart } from "./HyStart.ts"
import { RoundTrip } from "./RoundTrip.ts"
import type { TcpOptions } from "./TcpOptions.ts"

/** Segments (RFC 6928 §2; RFC 5681 §3.1, equation 4; RFC 6928 leaves the loss window at one, RFC 5681 §3.1). */
const INITIAL_WINDOW = 10
const LEAST_THRESHOLD = 2
const LOSS_WINDOW = 1
/** The least retransmission timeout of Linux, and of `transport-tcp`: 200 ms. */
const LEAST_TIMEOUT_PS = 200e9
/** Where a slow start ends by itself: it does not (RFC 5681 §3.1: as high as possible). */
const NO_THRESHOLD = Number.MAX_SAFE_INTEGER

/**
 * A congestion window as every TCP has it: slow start, a threshold, one reduction for a window of data, one segment after a
 * timeout (RFC 5681, RFC 6582). How it grows beyond the threshold, and what a reduction leaves, is the subclass's.
 *
 * The window counts in segments of `PathInfo.mtuBytes`. What TCP leaves to others is settled here: it grows only while it
 * is what limits the flow (RFC 7661 in short), and recovery itself, which packets are sent again and when, is the
 * transport's, which tells of a loss once a recovery.
 */
export abstract class TcpWindow extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s: TCP does not pace. */
  rate: number = 0
  /** The congestion window, whole bytes. */
  window: number = 0

  protected readonly segmentBytes: number = 0
  private readonly maxSegments: number = 0
  private readonly hyStart: HyStart | undefined
  /** IW of RFC 5681, segments. */
  private readonly initialSegments: number = 0
  private readonly leastTimeoutPs: number = 0

  /** cwnd and ssthresh, segments. */
  protected segments: number = DOUBLE_ZERO
  protected threshold: number = NO_THRESHOLD
  protected readonly roundTrip: RoundTrip
  /** When something was sent last, ps; NEVER before that. */
  private sentPs: number = NEVER
  /** Something else than the window was the limit, or nothing was out, since the last growth. */
  protected slack = false
  /** End of the window of data in which a mark or a loss has been reacted to. */
  private reducedUntil = 0
  /** End of the window of data in which losses are repaired; not beyond the former. */
  private recoverUntil = 0
  /** A timeout's data are sent again in a slow start of their own, up to `recoverUntil`. */
  private restarting = false
  protected readonly flight = new FlightSize()
  private marks = 0
  private losses = 0
  private timeouts = 0

  constructor(options: TcpOptions, path: PathInfo) {
    super()
    this.segmentBytes = path.mtuBytes
    this.rate = path.lineRateBps
    this.roundTrip = new RoundTrip(path.baseRttPs)
    this.maxSegments = (options.maxWindowBytes ?? Infinity) / path.mtuBytes
    this.hyStart = (options.hyStart ?? true) ? new HyStart() : undefined
    this.leastTimeoutPs = options.leastTimeoutPs ?? LEAST_TIMEOUT_PS
    this.setWindow((options.initialWindowBytes ?? INITIAL_WINDOW * path.mtuBytes) / path.mtuBytes)
    this.initialSegments = this.segments
  }

  /** The window after the threshold: `segments` more were acknowledged at `now`. */
  protected abstract grow(now: Time, segments: number): void
  /** A congestion event, a loss or a mark: what growth starts from. Returns what is left of the window, segments. */
  protected abstract reduce(lost: boolean): number
  /** A timeout follows `reduce`. */
  protected abstract restart(): void
  /** The window has fallen to its first, after a silence. */
  protected abstract restartIdle(): void

  override onSent(now: Time, bytes: number): void {
    const silencePs = now - this.sentPs
    if (silencePs > this.leastTimeoutPs && silencePs > this.roundTrip.retransmissionPs()) this.afterIdle()
    this.sentPs = now
    this.flight.onSent(bytes, this.recoverUntil)
  }

  /**
   * RFC 5681 §4.1: what has not sent for longer than a retransmission timeout begins with RW = min(IW, cwnd); the threshold
   * stays. It is told of the first segment once that has left, which any window lets go.
   */
  private afterIdle(): void {
    if (this.segments <= this.initialSegments) return
    this.setWindow(this.initialSegments)
    this.restartIdle()
  }

  onAck(now: Time, ack: Ack): boolean {
    const { sequence, sent, bytes, rttPs } = ack
    this.flight.onAck(ack)
    if (rttPs > 0) this.roundTrip.sample(rttPs)
    if (ack.congestion) {
      this.marks++
      if (sequence > this.reducedUntil) return this.marked()
    }
    if (sequence >= this.recoverUntil) this.restarting = false
    // No growth by a mark (RFC 3168 §6.1.2), nor while a loss is recovered (RFC 6582 §3.2) or a mark is answered, unless a
    // timeout has begun anew; nor where something else is the limit: what was out before this acknowledgement did not fill
    // the window, to a segment.
    if (bytes === 0 || ack.congestion || (sequence < this.reducedUntil && !this.restarting)) return false
    const out = sent - sequence + bytes
    if (out + this.segmentBytes <= this.window) {
      this.slack = true
      return false
    }
    this.advance(now, ack)
    if (sequence >= sent) this.slack = true
    return true
  }

  private advance(now: Time, ack: Ack): void {
    const segments = ack.bytes / this.segmentBytes
    if (this.segments >= this.threshold) {
      this.grow(now, segments)
      return
    }
    // RFC 5681 §3.1 with RFC 3465: by what is acknowledged. What a timeout sent in vain is acknowledged all at once: a
    // segment then (RFC 3465 §2.3). HyStart++ may slow a flow's first start, or end it (RFC 9406 §4.3).
    const hyStart = this.threshold === NO_THRESHOLD ? this.hyStart : undefined
    const share = hyStart === undefined ? 1 : hyStart.acknowledged(ack)
    if (share === 0) {
      this.threshold = this.segments
      this.grow(now, segments)
      return
    }
    const grown = this.segments + (this.restarting ? Math.min(segments, 1) : segments * share)
    this.setWindow(Math.min(grown, Math.max(this.threshold, this.segments)))
  }

  /** RFC 3168 §6.1.2: once for a window of data, and down to a single segment (RFC 9438 §4.6, figure 5). */
  private marked(): boolean {
    this.reducedUntil = this.flight.highest
    this.restarting = false
    const left = this.reduce(false)
    this.setThreshold(left)
    this.setWindow(left)
    return true
  }

  override onLoss(_now: Time, timeout: boolean): boolean {
    if (this.flight.acknowledged < this.recoverUntil && !timeout) return false
    // A window of data is answered once, be it marked, lost or both (RFC 3168 §6.1.2); another timeout of the same data
    // leaves the threshold (RFC 5681 §3.1), also where none of them was ever acknowledged.
    const again = this.flight.acknowledged < this.reducedUntil
    this.recoverUntil = this.flight.highest
    this.reducedUntil = this.flight.highest
    if (!again) this.setThreshold(this.reduce(true))
    if (timeout) {
      this.timeouts++
      this.restarting = true
      this.setWindow(LOSS_WINDOW)
      this.restart()
      return true
    }
    this.losses++
    if (!again) this.setWindow(this.threshold)
    return !again
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      windowSegments: this.segments,
      thresholdSegments: this.threshold,
      leastRttPs: this.roundTrip.leastPs === Infinity ? 0 : this.roundTrip.leastPs,
      smoothedRttPs: this.roundTrip.smoothedPs,
      marks: this.marks,
      losses: this.losses,
      timeouts: this.timeouts,
    }
  }

  /** At least two segments (RFC 5681 §3.1, equation 4). */
  private setThreshold(segments: number): void {
    this.threshold = Math.max(segments, LEAST_THRESHOLD)
  }

  protected setWindow(segments: number): void {
    this.segments = Math.min(Math.max(segments, LOSS_WINDOW), this.maxSegments)
    this.window = Math.max(1, Math.floor(this.segments * this.segmentBytes))
  }
}
