import { type Ack, type Controller, NEVER, type PathInfo, TELEMETRY_FIELDS, type Time } from "@rdmakit/protocol"
import type { HpccPaperOptions } from "./HpccOptions.ts"

/** What is kept of each hop: time (ps), bytes, queue (bytes). */
const RECORD_FIELDS = 3
const HOPS_AT_FIRST = 5
/** Bits in a byte times ps in a second: bytes per ps, times this, are bit/s. */
const BITS_PER_SECOND = 8e12

/**
 * HPCC as Algorithm 1 of the paper has it (HPCC §3.2): a window W in bytes, spread over the base RTT by the rate W / T.
 *
 * The algorithm leaves open what the first acknowledgement is compared with. Here, and whenever the path changes, an
 * acknowledgement only leaves its records, and a new round trip begins: U stands at 1 at first, as in the authors'
 * code. Hops whose stamp did not move are passed over.
 */
export class HpccPaper implements Controller {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** W / T, bit/s. */
  rate: number = 0
  /** W, whole bytes. */
  window: number = 0
  readonly nextTimer: Time = NEVER

  private readonly lineRateBps: number = 0
  private readonly eta: number = 0
  private readonly maxStage: number = 0
  private readonly additiveIncreaseBytes: number = 0
  private readonly minWindowBytes: number = 0
  private readonly startWindowBytes: number = 0
  private readonly baseRttPs: number = 0
  private readonly timeModulusPs: number = 0
  private readonly bytesModulus: number = 0
  private readonly windowed: boolean
  private readonly everyAck: boolean
  private readonly everyAckFull: boolean

  private utilisation = 1
  private referenceWindowBytes: number = 0
  private stage = 0
  private lastUpdateSequence = 0
  private hops = 0
  private pathId = 0
  private records = new Float64Array(HOPS_AT_FIRST * RECORD_FIELDS)

  private fullUpdates = 0
  private fastReactions = 0
  private unmeasured = 0
  private pathChanges = 0

  constructor(options: HpccPaperOptions, path: PathInfo) {
    this.lineRateBps = path.lineRateBps
    this.eta = options.eta ?? 0.95
    this.maxStage = options.maxStage ?? 5
    this.additiveIncreaseBytes = options.additiveIncreaseBytes ?? 80
    this.baseRttPs = path.baseRttPs
    this.timeModulusPs = path.timeModulusPs
    this.bytesModulus = path.bytesModulus
    this.everyAckFull = options.reaction === "per-ack"
    this.everyAck = options.reaction !== "per-rtt"
    this.windowed = path.windowBytes > 0
    this.startWindowBytes = Math.max(
      1,
      this.windowed ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / BITS_PER_SECOND,
    )
    this.minWindowBytes = Math.min(options.minWindowBytes ?? this.startWindowBytes / 100, this.startWindowBytes)
    this.referenceWindowBytes = this.startWindowBytes
    this.rate = path.lineRateBps
    this.window = this.windowed ? Math.floor(this.startWindowBytes) : Infinity
  }

  onSent(): void {}

  onAck(_now: Time, ack: Ack): boolean {
    const opensRound = ack.sequence > this.lastUpdateSequence
    if (!opensRound && !this.everyAck) return false
    if (ack.hops === 0) {
      this.unmeasured++
      return false
    }
    if (ack.pathId !== this.pathId || ack.hops !== this.hops) {
      this.adopt(ack)
      return false
    }
    if (!this.measureInflight(ack)) return false
    if (opensRound) this.lastUpdateSequence = ack.sent
    this.computeWindow(opensRound || this.everyAckFull)
    return true
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
      referenceWindowBytes: this.referenceWindowBytes,
      stage: this.stage,
      lastUpdateSequence: this.lastUpdateSequence,
      fullUpdates: this.fullUpdates,
      fastReactions: this.fastReactions,
      unmeasured: this.unmeasured,
      pathChanges: this.pathChanges,
    }
  }

  /** A path that was not seen before: its records cannot be compared with those of another (HPCC, Figure 7: pathID). */
  private adopt(ack: Ack): void {
    if (this.hops > 0) this.pathChanges++
    this.pathId = ack.pathId
    this.hops = ack.hops
    this.lastUpdateSequence = ack.sent
    if (ack.hops * RECORD_FIELDS > this.records.length) this.records = new Float64Array(ack.hops * RECORD_FIELDS)
    const { telemetry, hops } = ack
    const records = this.records
    for (let hop = 0, at = ack.telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
      records[k] = telemetry[at]!
      records[k + 1] = telemetry[at + 1]!
      records[k + 2] = telemetry[at + 2]!
    }
  }

  /** MeasureInflight: brings U up to date. False when no hop could be measured. */
  private measureInflight(ack: Ack): boolean {
    const { telemetry, hops } = ack
    const records = this.records
    const T = this.baseRttPs
    let largest = -1
    let largestTimePs = 0
    for (let hop = 0, at = ack.telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
      const queueBytes = telemetry[at + 2]!
      let timePs = telemetry[at]! - records[k]!
      if (timePs < 0) timePs += this.timeModulusPs
      let bytes = telemetry[at + 1]! - records[k + 1]!
      if (bytes < 0) bytes += this.bytesModulus
      const inflight = Math.min(queueBytes, records[k + 2]!) / T + bytes / timePs
      const u = (inflight * BITS_PER_SECOND) / telemetry[at + 3]!
      // A stamp that did not move makes u infinite or NaN; one that went back without wrapping has no time.
      if (u > largest && u < Infinity && timePs < Infinity) {
        largest = u
        largestTimePs = timePs
      }
      records[k] = telemetry[at]!
      records[k + 1] = telemetry[at + 1]!
      records[k + 2] = queueBytes
    }
    if (largest < 0) return false
    const weight = largestTimePs < T ? largestTimePs / T : 1
    this.utilisation = (1 - weight) * this.utilisation + weight * largest
    return true
  }

  /** ComputeWind. `full` moves the reference window, which happens once a round trip. */
  private computeWindow(full: boolean): void {
    const multiplicative = this.utilisation >= this.eta || this.stage >= this.maxStage
    const base = multiplicative ? this.referenceWindowBytes / (this.utilisation / this.eta) : this.referenceWindowBytes
    const windowBytes = Math.min(
      Math.max(base + this.additiveIncreaseBytes, this.minWindowBytes),
      this.startWindowBytes,
    )
    if (full) {
      this.referenceWindowBytes = windowBytes
      this.stage = multiplicative ? 0 : this.stage + 1
      this.fullUpdates++
    } else {
      this.fastReactions++
    }
    this.rate = (this.lineRateBps * windowBytes) / this.startWindowBytes
    if (this.windowed) this.window = Math.max(1, Math.floor(windowBytes))
  }
}
