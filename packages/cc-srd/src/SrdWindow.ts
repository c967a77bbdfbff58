import { type Ack, AckController, DOUBLE_ZERO, type Time } from "@rdmakit/protocol"
import type { SrdLaw } from "./SrdLaw.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12
/** Reports of paths that the majority is taken of: as many as are in flight, but at least and at most these. */
const LEAST_REPORTS = 4
const MOST_REPORTS = 16
/** Packets that make a round at least: fewer tell nothing of a rate. */
const ROUND_PACKETS = 4
/** How many times faster it grows at most. */
const MOST_HASTE = 64

/**
 * What may be in flight to a peer, and how fast packets leave: in flight over round trip.
 *
 * It lives on delays, each that of another path. The network is congested when most of the paths heard of last are slow,
 * or when less is delivered than was sent. While they are slow each round trip takes away a share of what may be in
 * flight, in proportion to the delay above the target, and always adds the same small amount: flows that meet the same
 * delay come to the same share. A loss is none of its business: the transport sends the packet on another path.
 */
export class SrdWindow extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  rate: number = DOUBLE_ZERO
  window: number = 0

  private readonly law: SrdLaw
  /** What may be in flight, bytes, parts of a packet too. */
  private bytes: number = DOUBLE_ZERO
  private baseRttPs: number = DOUBLE_ZERO
  /** Queueing delay of the reports, ps; and the share of them that is slow. */
  private delayPs: number = 0
  private slowShare: number = 0
  // A round: from a moment until all that was sent by then is acknowledged.
  private roundAt: Time = 0
  private roundEnd = 0
  private roundDelivered = 0
  private roundSent = 0
  private calmRounds = 0
  /** The longer all is calm, the faster it grows. */
  private haste = 1
  /** Of the last round, bit/s. */
  private transmitRateBps: number = 0
  private deliveryRateBps: number = 0
  private behind = false
  private congestedRounds = 0
  private timeouts = 0

  constructor(now: Time, law: SrdLaw) {
    super()
    this.law = law
    this.baseRttPs = law.baseRttPs
    this.bytes = law.initialBytes
    this.roundAt = now
    this.apply()
  }

  onAck(now: Time, ack: Ack): boolean {
    const { rttPs, bytes } = ack
    if (!(rttPs > 0 && rttPs < Infinity)) return false
    if (rttPs < this.baseRttPs) this.baseRttPs = rttPs
    const { law } = this
    const queuePs = rttPs - this.baseRttPs
    const targetPs = law.targetShare * this.baseRttPs
    const packets = this.bytes / law.mtuBytes
    const reports = packets < LEAST_REPORTS ? LEAST_REPORTS : packets > MOST_REPORTS ? MOST_REPORTS : packets
    this.slowShare += ((queuePs > targetPs ? 1 : 0) - this.slowShare) / reports
    this.delayPs += (queuePs - this.delayPs) / reports
    // Of a round trip, what this acknowledgement stands for.
    const share = bytes < this.bytes ? bytes / this.bytes : 1
    if (this.slowShare > 0.5) {
      this.calmRounds = 0
      this.haste = 1
      const excess = this.delayPs > targetPs ? (this.delayPs - targetPs) / (this.baseRttPs + this.delayPs) : 0
      this.bytes += share * (law.increaseBytes - law.beta * excess * this.bytes)
    } else if (!this.behind) {
      this.bytes += share * law.increaseBytes * this.haste
    }
    if (ack.sequence >= this.roundEnd) this.endRound(now, ack)
    this.apply()
    return true
  }

  private endRound(now: Time, { sequence, sent }: Ack): void {
    const delivered = sequence - this.roundDelivered
    const took = now - this.roundAt
    if (took <= 0 || delivered < ROUND_PACKETS * this.law.mtuBytes) return
    this.deliveryRateBps = (delivered * BIT_PS) / took
    // What is delivered in this round was sent in the last.
    this.behind = this.deliveryRateBps < this.law.keepsUp * this.transmitRateBps
    this.transmitRateBps = ((sent - this.roundSent) * BIT_PS) / took
    if (this.behind || this.slowShare > 0.5) this.congestedRounds++
    else if (++this.calmRounds > this.law.fastAfterRounds && this.haste < MOST_HASTE) this.haste *= 2
    this.roundAt = now
    this.roundEnd = sent
    this.roundDelivered = sequence
    this.roundSent = sent
  }

  /** A timeout: nothing comes any more, so one packet goes at a time until something does. */
  override onLoss(_now: Time, timeout: boolean): boolean {
    if (!timeout) return false
    this.timeouts++
    this.window = this.law.mtuBytes
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      inFlightBytes: this.bytes,
      baseRttPs: this.baseRttPs,
      delayPs: this.delayPs,
      slowShare: this.slowShare,
      deliveryRateBps: this.deliveryRateBps,
      transmitRateBps: this.transmitRateBps,
      congestedRounds: this.congestedRounds,
      timeouts: this.timeouts,
    }
  }

  private apply(): void {
    const { leastBytes, mostBytes, mtuBytes, lineRateBps } = this.law
    if (this.bytes < leastBytes) this.bytes = leastBytes
    else if (this.bytes > mostBytes) this.bytes = mostBytes
    const rate = (this.bytes * BIT_PS) / (this.baseRttPs + this.delayPs)
    this.rate = rate < lineRateBps ? rate : lineRateBps
    // Part of a packet is a packet at times: the rate says when.
    this.window = Math.floor(this.bytes) + mtuBytes
  }
}
