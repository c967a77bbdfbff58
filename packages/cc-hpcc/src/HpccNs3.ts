import {
  type Ack,
  AckController,
  DOUBLE_ZERO,
  type PathInfo,
  TELEMETRY_FIELDS,
  type Time,
  windowAt,
} from "@rdmakit/protocol"
import { doubles, HOPS_AT_FIRST, RECORD_FIELDS, storeRecords } from "./HopRecords.ts"
import type { HpccNs3Options } from "./HpccOptions.ts"

/** What is kept of each hop under MULTI_RATE: U, reference rate (bit/s), stage. */
const HOP_FIELDS = 3

/** What does not change, and mostly is the same for all flows of a network. */
export interface HpccNs3Constants {
  readonly lineRateBps: number
  readonly minRateBps: number
  readonly additiveIncreaseBps: number
  readonly eta: number
  readonly maxStage: number
  readonly baseRttNs: number
  readonly windowBytes: number
  /** Against which queues are measured. */
  readonly queueWindowBytes: number
  readonly timeModulusPs: number
  readonly bytesModulus: number
  readonly varWin: boolean
  readonly fastReaction: boolean
  readonly everyAckFull: boolean
  readonly multiRate: boolean
  readonly sampleFeedback: boolean
  readonly unguarded: boolean
}

export const ns3Constants = (options: HpccNs3Options, path: PathInfo): HpccNs3Constants => {
  const lineRateBps = Math.trunc(path.lineRateBps)
  return {
    lineRateBps,
    minRateBps: Math.min(options.minRateBps ?? 1e9, lineRateBps),
    additiveIncreaseBps: options.additiveIncreaseBps ?? Math.trunc((lineRateBps * 10) / 25_000),
    eta: options.eta ?? 0.95,
    maxStage: options.maxStage ?? 0,
    baseRttNs: path.baseRttPs / 1000,
    windowBytes: path.windowBytes,
    queueWindowBytes:
      path.windowBytes > 0 || options.unguarded === true
        ? path.windowBytes
        : Math.max(1, (lineRateBps / 8) * (path.baseRttPs * 1e-12)),
    timeModulusPs: path.timeModulusPs,
    bytesModulus: path.bytesModulus,
    varWin: options.varWin ?? true,
    fastReaction: options.reaction !== "per-rtt",
    everyAckFull: options.reaction === "per-ack",
    multiRate: options.multiRate ?? false,
    sampleFeedback: options.sampleFeedback ?? false,
    unguarded: options.unguarded ?? false,
  }
}

/** From here on a quotient has no place in the reference's 64 bits, and becomes 0: then the least rate is next. */
const QUOTIENT_END = 2 ** 64

/** Hops that the reference's INT has room for. */
const INT_HOPS = 5

/** Of a controller that keeps no state for each hop. */
const NO_STATE = new Float64Array(0)

/**
 * HPCC in the rate form of its authors' ns-3 code, to the last bit: integer rates, times in ns, and floating point in
 * the same order of operations. It differs from Algorithm 1 in that a rate takes the place of the window, and that the
 * first acknowledgement only stores its telemetry.
 *
 * The reference divides by the window and by the time between two stamps, both of which can be 0. Here a run without a
 * window measures queues against the bandwidth-delay product, and a hop whose stamp did not move is passed over, unless
 * `unguarded` asks for its infinities, and the line rate for what is no number; the rate is always within the least rate
 * and the line rate. Three of its blind spots are kept: records of another path are compared, a hop with u = 0 is no
 * measurement, and under MULTI_RATE, where U of such a hop may become 0, the reference rate divided by it is 0 too.
 */
export class HpccNs3 extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed, 30 % of `onAck`. What
  // small integers have no room for starts as a double: see `DOUBLE_ZERO`.
  /** Bit/s, an integer. */
  rate: number = DOUBLE_ZERO
  window: number = 0

  /** What it has in common with other flows, and so lies in the cache. */
  private readonly constants: HpccNs3Constants

  private utilisation: number = DOUBLE_ZERO
  private referenceRateBps: number = DOUBLE_ZERO
  private stage = 0
  private lastUpdateSequence = 0
  private elapsedNs = 0
  private records = doubles(HOPS_AT_FIRST * RECORD_FIELDS)
  private hopState = NO_STATE

  private fullUpdates = 0
  private fastReactions = 0
  private unmeasured = 0

  constructor(constants: HpccNs3Constants) {
    super()
    this.constants = constants
    this.utilisation = 1
    this.rate = constants.lineRateBps
    this.referenceRateBps = constants.lineRateBps
    this.window = constants.windowBytes > 0 ? constants.windowBytes : Infinity
    if (constants.multiRate) this.growHopState(HOPS_AT_FIRST)
  }

  onAck(_now: Time, ack: Ack): boolean {
    // One full update a round trip: the first acknowledgement of a byte that was sent after the last one.
    if (ack.sequence > this.lastUpdateSequence) return this.react(ack, true)
    return this.constants.fastReaction ? this.react(ack, this.constants.everyAckFull) : false
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
      storeRecords(this.records, ack)
      return false
    }
    const ran = this.constants.unguarded && ack.hops > INT_HOPS ? false : this.measured(ack, full)
    if (full && ack.sent > this.lastUpdateSequence) this.lastUpdateSequence = ack.sent
    if (ran) {
      if (full) this.fullUpdates++
      else this.fastReactions++
    }
    return ran
  }

  private measured(ack: Ack, full: boolean): boolean {
    return this.constants.multiRate ? this.reactPerHop(ack, full) : this.reactOnce(ack, full)
  }

  /** One rate for the path: the hop with the largest u decides. */
  private reactOnce(ack: Ack, full: boolean): boolean {
    const { telemetry, hops } = ack
    const passOverEmpty = this.constants.sampleFeedback && !full
    let any = false
    let largest = 0
    let largestTimeNs = 0
    for (let hop = 0, at = ack.telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
      if (passOverEmpty && telemetry[at + 2] === 0) continue
      any = true
      const u = this.measure(telemetry, at, k)
      // A stamp that did not move makes u infinite or NaN: no measurement, and the hop is passed over.
      if (u > largest && (u < Infinity || this.constants.unguarded)) {
        largest = u
        largestTimeNs = this.elapsedNs
      }
    }
    if (!any) return false
    const T = this.constants.baseRttNs
    const timeNs = largestTimeNs > T ? T : largestTimeNs
    this.utilisation = (this.utilisation * (T - timeNs) + largest * timeNs) / T
    const excess = this.utilisation / this.constants.eta
    const multiplicative = excess >= 1 || this.stage >= this.constants.maxStage
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
    const passOverEmpty = this.constants.sampleFeedback && !full
    const T = this.constants.baseRttNs
    let any = false
    let least = this.constants.lineRateBps
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
      if (u < Infinity || this.constants.unguarded) state[s] = (state[s]! * (T - timeNs) + u * timeNs) / T
      const excess = state[s]! / this.constants.eta
      const multiplicative = excess >= 1 || state[s + 2]! >= this.constants.maxStage
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
    if (elapsedPs < 0)
      elapsedPs = this.constants.timeModulusPs < Infinity ? elapsedPs + this.constants.timeModulusPs : Number.NaN
    let bytes = sentBytes - records[k + 1]!
    if (bytes < 0) bytes += this.constants.bytesModulus
    const leastQueueBytes = Math.min(queueBytes, records[k + 2]!)
    records[k] = timePs
    records[k + 1] = sentBytes
    records[k + 2] = queueBytes
    const elapsedNs = elapsedPs / 1000
    this.elapsedNs = elapsedNs
    const txRateBps = (bytes * 8) / (elapsedNs * 1e-9)
    const share = txRateBps / hopRateBps
    // An empty queue, and most are, spares two divisions.
    if (leastQueueBytes === 0 && this.constants.queueWindowBytes > 0) return share
    return share + (leastQueueBytes * this.constants.lineRateBps) / hopRateBps / this.constants.queueWindowBytes
  }

  /** The next rate from a reference, whole bit/s, within bounds. */
  private next(referenceRateBps: number, excess: number, multiplicative: boolean): number {
    let base = multiplicative ? Math.trunc(referenceRateBps / excess) : referenceRateBps
    // A hop that was idle for a round trip, and before which nothing waits.
    if (base >= QUOTIENT_END) base = 0
    const rate = base + this.constants.additiveIncreaseBps
    if (rate < this.constants.minRateBps) return this.constants.minRateBps
    // What is no number is beyond the line rate: the reference's conversion makes it 2^63.
    return rate <= this.constants.lineRateBps ? rate : this.constants.lineRateBps
  }

  private setRate(rate: number): void {
    if (rate === this.rate) return
    this.rate = rate
    if (this.constants.varWin && this.constants.windowBytes > 0) {
      this.window = windowAt(this.constants.windowBytes, rate, this.constants.lineRateBps)
    }
  }

  private growRecords(hops: number): void {
    this.records = [...this.records, ...doubles(hops * RECORD_FIELDS - this.records.length)]
    if (this.constants.multiRate) this.growHopState(hops)
  }

  private growHopState(hops: number): void {
    const state = new Float64Array(hops * HOP_FIELDS)
    for (let hop = 0; hop < hops; hop++) {
      state[hop * HOP_FIELDS] = 1
      state[hop * HOP_FIELDS + 1] = this.constants.lineRateBps
    }
    state.set(this.hopState)
    this.hopState = state
  }
}
