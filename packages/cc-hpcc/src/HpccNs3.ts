import { type Ack, type Controller, NEVER, type PathInfo, TELEMETRY_FIELDS, type Time } from "@rdmakit/protocol"
import { mulDivFloor } from "@rdmakit/units"
import type { HpccNs3Options } from "./HpccOptions.ts"

/** What is kept of each hop: time (ps), bytes, queue (bytes). */
const RECORD_FIELDS = 3
/** What is kept of each hop under MULTI_RATE: U, reference rate (bit/s), stage. */
const HOP_FIELDS = 3
const HOPS_AT_FIRST = 5

/**
 * HPCC in the rate form of its authors' ns-3 code, to the last bit: integer rates, times in ns, and floating point in
 * the same order of operations. It differs from Algorithm 1 in that a rate takes the place of the window, and that the
 * first acknowledgement only stores its telemetry.
 *
 * The reference divides by the window and by the time between two stamps, both of which can be 0. Here a run without a
 * window measures queues against the bandwidth-delay product, and a hop whose stamp did not move is passed over; the
 * rate is always within the least rate and the line rate. Two of its blind spots are kept: records of another path are
 * compared, and a hop with u = 0 is no measurement.
 */
export class HpccNs3 implements Controller {
  // Every field starts as a number: one that starts undefined has each double written to it boxed, 30 % of `onAck`.
  /** Bit/s, an integer. */
  rate: number = 0
  window: number = 0
  readonly nextTimer: Time = NEVER

  private readonly lineRateBps: number = 0
  private readonly minRateBps: number = 0
  private readonly additiveIncreaseBps: number = 0
  private readonly eta: number = 0
  private readonly maxStage: number = 0
  private readonly baseRttNs: number = 0
  private readonly windowBytes: number = 0
  private readonly queueWindowBytes: number = 0
  private readonly timeModulusPs: number = 0
  private readonly bytesModulus: number = 0
  private readonly varWin: boolean
  private readonly fastReaction: boolean
  private readonly everyAckFull: boolean
  private readonly multiRate: boolean
  private readonly sampleFeedback: boolean

  private utilisation = 1
  private referenceRateBps: number = 0
  private stage = 0
  private lastUpdateSequence = 0
  private elapsedNs = 0
  private records = new Float64Array(HOPS_AT_FIRST * RECORD_FIELDS)
  private hopState = new Float64Array(0)

  private fullUpdates = 0
  private fastReactions = 0
  private unmeasured = 0

  constructor(options: HpccNs3Options, path: PathInfo) {
    const lineRateBps = Math.trunc(path.lineRateBps)
    this.lineRateBps = lineRateBps
    this.minRateBps = Math.min(options.minRateBps ?? 1e9, lineRateBps)
    this.additiveIncreaseBps = options.additiveIncreaseBps ?? Math.trunc((lineRateBps * 10) / 25_000)
    this.eta = options.eta ?? 0.95
    this.maxStage = options.maxStage ?? 0
    this.baseRttNs = path.baseRttPs / 1000
    this.windowBytes = path.windowBytes
    this.queueWindowBytes =
      path.windowBytes > 0 ? path.windowBytes : Math.max(1, (lineRateBps / 8) * (path.baseRttPs * 1e-12))
    this.timeModulusPs = path.timeModulusPs
    this.bytesModulus = path.bytesModulus
    this.varWin = options.varWin ?? true
    this.everyAckFull = options.reaction === "per-ack"
    this.fastReaction = options.reaction !== "per-rtt"
    this.multiRate = options.multiRate ?? false
    this.sampleFeedback = options.sampleFeedback ?? false
    this.rate = lineRateBps
    this.referenceRateBps = lineRateBps
    this.window = path.windowBytes > 0 ? path.windowBytes : Infinity
    if (this.multiRate) this.growHopState(HOPS_AT_FIRST)
  }

  onSent(): void {}

  onAck(_now: Time, ack: Ack): boolean {
    // One full update a round trip: the first acknowledgement of a byte that was sent after the last one.
    if (ack.sequence > this.lastUpdateSequence) return this.react(ack, true)
    return this.fastReaction ? this.react(ack, this.everyAckFull) : false
  }

  onCnp(): boolean {
    return false
  }

  onLoss(): boolean {
    return false
  }

  onTimer(): boolean {
    return false
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      utilisation: this.utilisation,
      referenceRateBps: this.referenceRateBps,
      stage: this.stage,
      lastUpdateSequence: this.lastUpdateSequence,
      fullUpdates: this.fullUpdates,
      fastReactions: this.fastReactions,
      unmeasured: this.unmeasured,
    }
  }

  private react(ack: Ack, full: boolean): boolean {
    if (ack.hops === 0) this.unmeasured++
    else if (ack.hops * RECORD_FIELDS > this.records.length) this.growRecords(ack.hops)
    if (this.lastUpdateSequence === 0) {
      this.lastUpdateSequence = ack.sent
      this.store(ack)
      return false
    }
    const ran = this.multiRate ? this.reactPerHop(ack, full) : this.reactOnce(ack, full)
    if (full && ack.sent > this.lastUpdateSequence) this.lastUpdateSequence = ack.sent
    if (ran) {
      if (full) this.fullUpdates++
      else this.fastReactions++
    }
    return ran
  }

  private store(ack: Ack): void {
    const { telemetry, hops } = ack
    const records = this.records
    for (let hop = 0, at = ack.telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
      records[k] = telemetry[at]!
      records[k + 1] = telemetry[at + 1]!
      records[k + 2] = telemetry[at + 2]!
    }
  }

  /** One rate for the path: the hop with the largest u decides. */
  private reactOnce(ack: Ack, full: boolean): boolean {
    const { telemetry, hops } = ack
    const passOverEmpty = this.sampleFeedback && !full
    let any = false
    let largest = 0
    let largestTimeNs = 0
    for (let hop = 0, at = ack.telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
      if (passOverEmpty && telemetry[at + 2] === 0) continue
      any = true
      const u = this.measure(telemetry, at, k)
      // A stamp that did not move makes u infinite or NaN: no measurement, and the hop is passed over.
      if (u > largest && u < Infinity) {
        largest = u
        largestTimeNs = this.elapsedNs
      }
    }
    if (!any) return false
    const T = this.baseRttNs
    const timeNs = largestTimeNs > T ? T : largestTimeNs
    this.utilisation = (this.utilisation * (T - timeNs) + largest * timeNs) / T
    const excess = this.utilisation / this.eta
    const multiplicative = excess >= 1 || this.stage >= this.maxStage
    const rate = this.next(this.referenceRateBps, excess, multiplicative)
    this.setRate(rate)
    if (full) {
      this.referenceRateBps = rate
      this.stage = multiplicative ? 0 : this.stage + 1
    }
    return true
  }

  /** MULTI_RATE: a rate for each hop, and the least of them for the flow. */
  private reactPerHop(ack: Ack, full: boolean): boolean {
    const { telemetry, hops } = ack
    const state = this.hopState
    const passOverEmpty = this.sampleFeedback && !full
    const T = this.baseRttNs
    let any = false
    let least = this.lineRateBps
    for (
      let hop = 0, at = ack.telemetryAt, k = 0, s = 0;
      hop < hops;
      hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS, s += HOP_FIELDS
    ) {
      if (passOverEmpty && telemetry[at + 2] === 0) {
        if (state[s + 1]! < least) least = state[s + 1]!
        continue
      }
      any = true
      const u = this.measure(telemetry, at, k)
      const timeNs = this.elapsedNs > T ? T : this.elapsedNs
      if (u < Infinity) state[s] = (state[s]! * (T - timeNs) + u * timeNs) / T
      const excess = state[s]! / this.eta
      const multiplicative = excess >= 1 || state[s + 2]! >= this.maxStage
      const rate = this.next(state[s + 1]!, excess, multiplicative)
      if (rate < least) least = rate
      if (full) {
        state[s + 1] = rate
        state[s + 2] = multiplicative ? 0 : state[s + 2]! + 1
      }
    }
    if (!any) return false
    this.setRate(least)
    if (full) this.referenceRateBps = least
    return true
  }

  /**
   * u of one hop: its rate, and its queue in windows, both as a share of the hop's line rate. Leaves the time from one
   * stamp to the next in `elapsedNs`, NaN when it cannot be told, and the new record in place of the old.
   */
  private measure(telemetry: Float64Array, at: number, k: number): number {
    const records = this.records
    const timePs = telemetry[at]!
    const sentBytes = telemetry[at + 1]!
    const queueBytes = telemetry[at + 2]!
    const hopRateBps = telemetry[at + 3]!
    let elapsedPs = timePs - records[k]!
    if (elapsedPs < 0) elapsedPs = this.timeModulusPs < Infinity ? elapsedPs + this.timeModulusPs : Number.NaN
    let bytes = sentBytes - records[k + 1]!
    if (bytes < 0) bytes += this.bytesModulus
    const leastQueueBytes = Math.min(queueBytes, records[k + 2]!)
    records[k] = timePs
    records[k + 1] = sentBytes
    records[k + 2] = queueBytes
    const elapsedNs = elapsedPs / 1000
    this.elapsedNs = elapsedNs
    const txRateBps = (bytes * 8) / (elapsedNs * 1e-9)
    const share = txRateBps / hopRateBps
    // An empty queue, and most are, spares two divisions.
    if (leastQueueBytes === 0) return share
    return share + (leastQueueBytes * this.lineRateBps) / hopRateBps / this.queueWindowBytes
  }

  /** The next rate from a reference, whole bit/s, within bounds. */
  private next(referenceRateBps: number, excess: number, multiplicative: boolean): number {
    const base = multiplicative ? Math.trunc(referenceRateBps / excess) : referenceRateBps
    const rate = base + this.additiveIncreaseBps
    return rate < this.minRateBps ? this.minRateBps : rate > this.lineRateBps ? this.lineRateBps : rate
  }

  private setRate(rate: number): void {
    if (rate === this.rate) return
    this.rate = rate
    if (this.varWin && this.windowBytes > 0) {
      this.window = Math.max(1, mulDivFloor(this.windowBytes, rate, this.lineRateBps))
    }
  }

  private growRecords(hops: number): void {
    const records = new Float64Array(hops * RECORD_FIELDS)
    records.set(this.records)
    this.records = records
    if (this.multiRate) this.growHopState(hops)
  }

  private growHopState(hops: number): void {
    const state = new Float64Array(hops * HOP_FIELDS)
    for (let hop = 0; hop < hops; hop++) {
      state[hop * HOP_FIELDS] = 1
      state[hop * HOP_FIELDS + 1] = this.lineRateBps
    }
    state.set(this.hopState)
    this.hopState = state
  }
}
