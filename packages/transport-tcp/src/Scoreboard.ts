import { DOUBLE_ZERO, type Time } from "@rdmakit/protocol"
import { Intervals } from "./Intervals.ts"

const NONE = -1
/** Room for segments at first: a connection may carry no more than a byte, and there may be very many. */
const SLOTS_FIRST = 4
/** What is known of a segment that was sent. */
const Bit = { Sacked: 1, Lost: 2, Retransmitted: 4 } as const

/**
 * What a sender knows of the segments between the oldest that is not acknowledged and the highest that was sent (the
 * scoreboard of RFC 6675), with a list in the order of their last transmissions, as RACK wants it (RFC 8985 §6.2): a
 * segment that is sent again goes to its end, one that arrives or is taken for lost leaves it.
 *
 * Segments are numbered without wrapping; what is kept of one lies in a ring that grows with the window.
 */
export class Scoreboard {
  /** Oldest unacknowledged, and one after the highest sent. */
  una: number
  highest: number
  /** Bytes in the network, as far as is known (pipe): sent, and neither acknowledged, nor there out of order, nor lost. */
  pipeBytes = 0
  /** Segments taken for lost that were not sent again since; and those there out of order. */
  lostCount = 0
  sackedCount = 0
  /** Least number that may be lost: where to look for the next to send again. */
  private lostFrom: number
  private readonly sacked = new Intervals()
  /** Up to here segments have been counted out by those beyond them. */
  private counted = 0

  private mask = SLOTS_FIRST - 1
  private bits = new Uint8Array(SLOTS_FIRST)
  private sizes = new Int32Array(SLOTS_FIRST)
  private sentAt = new Float64Array(SLOTS_FIRST)
  private next = new Int32Array(SLOTS_FIRST).fill(NONE)
  private previous = new Int32Array(SLOTS_FIRST).fill(NONE)
  /** Slots of the segment whose transmission is the oldest, and the newest. */
  private head = NONE
  private tail = NONE

  // RACK's state (RFC 8985 §6.2): of the delivered segment that was sent last.
  private rackSentAt: Time = DOUBLE_ZERO
  private rackNumber = NONE
  rackRttPs: Time = DOUBLE_ZERO
  /** Set by an acknowledgement: what it delivered; a delivery out of order was seen, ever. */
  deliveredBytes = 0
  reordered = false
  private highestDelivered = NONE

  constructor(first: number) {
    this.una = first
    this.highest = first
    this.lostFrom = first
  }

  /** The highest segment that is there out of order, and one; `una` when none is. */
  get sackedEnd(): number {
    return this.sacked.count === 0 ? this.una : this.sacked.endOf(this.sacked.count - 1)
  }

  isRetransmitted(number: number): boolean {
    return (this.bits[number & this.mask]! & Bit.Retransmitted) !== 0
  }
  isSacked(number: number): boolean {
    return (this.bits[number & this.mask]! & Bit.Sacked) !== 0
  }
  sizeOf(number: number): number {
    return this.sizes[number & this.mask]!
  }
  /** When the oldest transmission under way was made, ps. @returns NaN when there is none */
  get oldestSentAt(): Time {
    return this.head === NONE ? Number.NaN : this.sentAt[this.head]!
  }

  /** A segment leaves: the next new one, or one that was lost. */
  sent(number: number, bytes: number, now: Time): void {
    if (number === this.highest) {
      if (number - this.una > this.mask) this.grow()
      this.highest = number + 1
      this.bits[number & this.mask] = 0
      this.sizes[number & this.mask] = bytes
    } else {
      const at = number & this.mask
      this.lostCount--
      this.bits[at] = (this.bits[at]! & ~Bit.Lost) | Bit.Retransmitted
      if (number === this.lostFrom) this.lostFrom++
    }
    const at = number & this.mask
    this.sentAt[at] = now
    this.append(at)
    this.pipeBytes += bytes
  }

  /** The lowest segment that is lost and waits to be sent again; there must be one. */
  nextLost(): number {
    let number = this.lostFrom
    while ((this.bits[number & this.mask]! & Bit.Lost) === 0) number++
    this.lostFrom = number
    return number
  }

  /** Everything before `number` is acknowledged. */
  acknowledge(now: Time, number: number): void {
    for (let each = this.una; each < number; each++) this.deliver(now, each, true)
    this.una = number
    if (this.lostFrom < number) this.lostFrom = number
    if (this.sacked.count > 0) this.sacked.trim(number)
  }

  /** Segments from `start` to before `end` are there out of order. */
  sack(now: Time, start: number, end: number): void {
    let from = Math.max(start, this.una)
    const most = Math.min(end, this.highest)
    if (from >= most) return
    while (from < most) {
      from = this.sacked.firstMissing(from)
      const until = Math.min(most, this.sacked.missingUntil(from, most))
      for (; from < until; from++) this.deliver(now, from, false)
    }
    this.sacked.add(Math.max(start, this.una), most)
  }

  private deliver(now: Time, number: number, cumulative: boolean): void {
    const at = number & this.mask
    const bits = this.bits[at]!
    if ((bits & Bit.Sacked) !== 0) {
      if (cumulative) this.sackedCount--
      return
    }
    const bytes = this.sizes[at]!
    this.deliveredBytes += bytes
    if ((bits & Bit.Lost) !== 0) this.lostCount--
    else {
      this.unlink(at)
      this.pipeBytes -= bytes
    }
    if (!cumulative) this.sackedCount++
    this.bits[at] = (bits & Bit.Retransmitted) | Bit.Sacked
    this.noteDelivery(now, number, bits)
  }

  /** RFC 8985 §6.2, steps 2 and 3. */
  private noteDelivery(now: Time, number: number, bits: number): void {
    const sentAt = this.sentAt[number & this.mask]!
    const isRetransmitted = (bits & Bit.Retransmitted) !== 0
    if (isRetransmitted) {
      // It may be the original that came: then its round trip would be shorter than any.
      if (now - sentAt < this.rackRttPs / 2) return
    } else if (number < this.highestDelivered) this.reordered = true
    if (number > this.highestDelivered) this.highestDelivered = number
    if (sentAt > this.rackSentAt || (sentAt === this.rackSentAt && number > this.rackNumber)) {
      this.rackSentAt = sentAt
      this.rackNumber = number
      this.rackRttPs = now - sentAt
    }
  }

  /**
   * RFC 8985 §6.2, step 5: what was sent before the delivered segment that was sent last, longer ago than a round trip
   * and the reordering window, is lost. Returns how long until the next may be found so, ps; 0 when none is waited for.
   */
  detectLosses(now: Time, reorderWindowPs: Time): Time {
    while (this.head !== NONE) {
      const at = this.head
      const number = this.numberAt(at)
      const sentAt = this.sentAt[at]!
      if (sentAt > this.rackSentAt || (sentAt === this.rackSentAt && number >= this.rackNumber)) return 0
      const left = sentAt + this.rackRttPs + reorderWindowPs - now
      if (left > 0) return left
      this.markLost(number)
    }
    return 0
  }

  /** RFC 6675 §4: a segment is lost when three segments beyond it are there. */
  detectByCount(threshold: number): void {
    const { sacked } = this
    let beyond = 0
    let limit = this.una
    for (let index = sacked.count - 1; index >= 0; index--) {
      const length = sacked.endOf(index) - sacked.startOf(index)
      if (beyond + length >= threshold) {
        limit = sacked.endOf(index) - (threshold - beyond)
        break
      }
      beyond += length
    }
    for (let number = Math.max(this.una, this.counted); number < limit; number++) {
      const bits = this.bits[number & this.mask]!
      if (bits === 0) this.markLost(number)
    }
    if (limit > this.counted) this.counted = limit
  }

  /** After a timeout everything that is not known to be there is lost (RFC 6675 §5.1, RFC 8985 §6.3). */
  markAllLost(): void {
    while (this.head !== NONE) this.markLost(this.numberAt(this.head))
  }

  /** A segment under way is to be sent again, as a probe. */
  lose(number: number): void {
    if ((this.bits[number & this.mask]! & (Bit.Lost | Bit.Sacked)) === 0) this.markLost(number)
  }

  /** The oldest, which was there out of order, is to be sent again. */
  loseOldest(): void {
    const at = this.una & this.mask
    if (this.una === this.highest || (this.bits[at]! & Bit.Sacked) === 0) return
    this.bits[at] = (this.bits[at]! & ~Bit.Sacked) | Bit.Lost
    this.sacked.trim(this.una + 1)
    this.sackedCount--
    this.lostCount++
    this.lostFrom = this.una
  }

  /** Nothing is waited for any more. */
  abandon(): void {
    this.highest = this.una
    this.head = NONE
    this.tail = NONE
    this.pipeBytes = 0
    this.lostCount = 0
    this.sackedCount = 0
    this.sacked.clear()
  }

  private markLost(number: number): void {
    const at = number & this.mask
    this.unlink(at)
    this.pipeBytes -= this.sizes[at]!
    this.bits[at]! |= Bit.Lost
    this.lostCount++
    if (number < this.lostFrom || this.lostCount === 1) this.lostFrom = number
  }

  private numberAt(at: number): number {
    return this.una + ((at - this.una) & this.mask)
  }

  private append(at: number): void {
    this.next[at] = NONE
    this.previous[at] = this.tail
    if (this.tail === NONE) this.head = at
    else this.next[this.tail] = at
    this.tail = at
  }

  private unlink(at: number): void {
    const previous = this.previous[at]!
    const next = this.next[at]!
    if (previous === NONE) this.head = next
    else this.next[previous] = next
    if (next === NONE) this.tail = previous
    else this.previous[next] = previous
  }

  private grow(): void {
    const size = 2 * (this.mask + 1)
    const mask = size - 1
    const order: Array<number> = []
    for (let at = this.head; at !== NONE; at = this.next[at]!) order.push(this.numberAt(at))
    const bits = new Uint8Array(size)
    const sizes = new Int32Array(size)
    const sentAt = new Float64Array(size)
    for (let number = this.una; number < this.highest; number++) {
      bits[number & mask] = this.bits[number & this.mask]!
      sizes[number & mask] = this.sizes[number & this.mask]!
      sentAt[number & mask] = this.sentAt[number & this.mask]!
    }
    this.bits = bits
    this.sizes = sizes
    this.sentAt = sentAt
    this.next = new Int32Array(size).fill(NONE)
    this.previous = new Int32Array(size).fill(NONE)
    this.mask = mask
    this.head = NONE
    this.tail = NONE
    for (const number of order) this.append(number & mask)
  }
}
