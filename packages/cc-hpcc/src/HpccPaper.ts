import { type Ack, TELEMETRY_FIELDS, type Time } from "@rdmakit/protocol"
import { BIT_PS, ComputeWind } from "./ComputeWind.ts"
import { doubles, HOPS_AT_FIRST, RECORD_FIELDS, storeRecords } from "./HopRecords.ts"

/**
 * HPCC as Algorithm 1 of the paper has it (HPCC §3.2): a window W in bytes, spread over the base RTT by the rate W / T.
 *
 * The algorithm leaves open what the first acknowledgement is compared with. Here, and whenever the path changes, an
 * acknowledgement only leaves its records, and a new round trip begins: U stands at 1 at first, as in the authors'
 * code. Hops whose stamp did not move are passed over.
 */
export class HpccPaper extends ComputeWind {
  private hops = 0
  private pathId = 0
  private records = doubles(HOPS_AT_FIRST * RECORD_FIELDS)
  private pathChanges = 0

  onAck(_now: Time, ack: Ack): boolean {
    const opensRound = ack.sequence > this.lastUpdateSequence
    if (!opensRound && !this.constants.everyAck) return false
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
    this.computeWindow(opensRound || this.constants.everyAckFull)
    return true
  }

  override metrics(): Readonly<Record<string, number>> {
    return { ...super.metrics(), pathChanges: this.pathChanges }
  }

  /** A path that was not seen before: its records cannot be compared with those of another (HPCC, Figure 7: pathID). */
  private adopt(ack: Ack): void {
    if (this.hops > 0) this.pathChanges++
    this.pathId = ack.pathId
    this.hops = ack.hops
    this.lastUpdateSequence = ack.sent
    if (ack.hops * RECORD_FIELDS > this.records.length) this.records = doubles(ack.hops * RECORD_FIELDS)
    storeRecords(this.records, ack)
  }

  /** MeasureInflight: brings U up to date. False when no hop could be measured. */
  private measureInflight(ack: Ack): boolean {
    const { telemetry, hops } = ack
    const { records, constants } = this
    const T = constants.baseRttPs
    let largest = -1
    let largestTimePs = 0
    for (let hop = 0, at = ack.telemetryAt, k = 0; hop < hops; hop++, at += TELEMETRY_FIELDS, k += RECORD_FIELDS) {
      const queueBytes = telemetry[at + 2]!
      let timePs = telemetry[at]! - records[k]!
      if (timePs < 0) timePs += constants.timeModulusPs
      let bytes = telemetry[at + 1]! - records[k + 1]!
      if (bytes < 0) bytes += constants.bytesModulus
      const inflight = Math.min(queueBytes, records[k + 2]!) / T + bytes / timePs
      const u = (inflight * BIT_PS) / telemetry[at + 3]!
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
}
