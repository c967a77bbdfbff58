import { NEVER, type Time } from "@rdmakit/protocol"
import { F64, RECORD_SHIFT, type Records } from "./Records.ts"

const NONE = -1

/** What has become of a packet. */
const State = { Delivered: 0, Flying: 1, Lost: 2 } as const

/** Words of a packet; its double is when it was sent last, ps. */
/** `State` (bits 0 to 1) · sent again (bit 2) · path (from bit 8 on). */
const STATE = 0
const STATE_MASK = 3
const AGAIN = 4
const PATH_SHIFT = 8
const BYTES = 1
const DRAW = 2
/** The owner's: which message it is of. */
const TAG = 3
/** Neighbours in the order of sending, or among the lost: places in the ring, the next in the low half; 0xffff for none. */
const LINKS = 4
const LOW = 0xffff
/** log2 of the packets there is room for at first. */
const FIRST_SIZE = 2
/** How many numbers before it is the one sent before it on the same path; 0: there is none. */
const BEFORE = 5

/**
 * The packets of a context from the oldest that was not acknowledged to the newest. They are in a list in the order of
 * their last sending, or in that of the lost, which wait to be sent again. Packets are numbered without wrapping; what is
 * kept of one lies in a ring that grows with the window.
 */
export class SentPackets {
  /** The oldest that is not acknowledged, and one after the newest. */
  oldest = 0
  newest = 0
  /** Bytes under way: sent, neither acknowledged nor lost. A packet without bytes counts as one. */
  flyingBytes = 0
  lostCount = 0
  private block = 0
  /** log2 of the ring, -1: there is none; and its mask. */
  private size = -1
  private mask = -1
  private head = NONE
  private tail = NONE
  private lostHead = NONE
  private lostTail = NONE
  private readonly records: Records

  constructor(records: Records) {
    this.records = records
  }

  private base(number: number): number {
    return (this.block + (number & this.mask)) << RECORD_SHIFT
  }
  private numberAt(place: number): number {
    return place === NONE ? NONE : this.oldest + ((place - this.oldest) & this.mask)
  }
  private state(number: number): number {
    return this.records.words[this.base(number) | STATE]!
  }

  /** What is known of it is kept: packets are remembered for a while after they were acknowledged. */
  isKept(number: number): boolean {
    return number < this.newest && number >= this.newest - this.mask - 1
  }
  isDelivered(number: number): boolean {
    return (this.state(number) & STATE_MASK) === State.Delivered
  }
  isFlying(number: number): boolean {
    return (this.state(number) & STATE_MASK) === State.Flying
  }
  /** It was sent more than once. */
  wasRepeated(number: number): boolean {
    return (this.state(number) & AGAIN) !== 0
  }
  pathOf(number: number): number {
    return this.state(number) >> PATH_SHIFT
  }
  bytesOf(number: number): number {
    return this.records.words[this.base(number) | BYTES]!
  }
  tagOf(number: number): number {
    return this.records.words[this.base(number) | TAG]!
  }
  drawOf(number: number): number {
    return this.records.words[this.base(number) | DRAW]!
  }
  /** When it was sent last, ps. */
  sentAt(number: number): Time {
    return this.records.f64[(this.base(number) >> 1) | F64]!
  }

  /** Number of the packet whose sending is the longest ago, of those under way; -1: none is. */
  get firstFlying(): number {
    return this.numberAt(this.head)
  }
  /** When that was sent, ps; NEVER: none is under way. */
  get firstSentAt(): Time {
    return this.head === NONE ? NEVER : this.records.f64[(((this.block + this.head) << RECORD_SHIFT) >> 1) | F64]!
  }
  /** Number of the packet that was found to be lost first and waits to be sent again; -1: none does. */
  get firstLost(): number {
    return this.numberAt(this.lostHead)
  }

  /** A new packet, about to be sent; its number. */
  add(bytes: number, tag: number): number {
    if (this.newest - this.oldest > this.mask) this.grow()
    const number = this.newest++
    const base = this.base(number)
    const { words } = this.records
    words[base | STATE] = State.Delivered
    words[base | BYTES] = bytes
    words[base | TAG] = tag
    return number
  }

  /** A packet leaves, the newest or the first of the lost. @param before number of the one sent before it on the path, or -1 */
  send(number: number, now: Time, path: number, draw: number, before: number): void {
    const base = this.base(number)
    const { words, f64 } = this.records
    let again = 0
    if ((words[base | STATE]! & STATE_MASK) === State.Lost) {
      this.unlink(base, true)
      this.lostCount--
      again = AGAIN
    }
    words[base | STATE] = State.Flying | again | (path << PATH_SHIFT)
    words[base | DRAW] = draw
    // It may be a later one, for a packet that is sent again.
    words[base | BEFORE] = before === NONE ? 0 : number - before
    f64[(base >> 1) | F64] = now
    this.flyingBytes += weight(words[base | BYTES]!)
    this.append(number & this.mask, base, false)
  }

  /** It has come, whether it was under way or taken for lost; it must not have been acknowledged before. */
  deliver(number: number): void {
    const base = this.base(number)
    const { words } = this.records
    const state = words[base | STATE]!
    const isLost = (state & STATE_MASK) === State.Lost
    this.unlink(base, isLost)
    if (isLost) this.lostCount--
    else this.flyingBytes -= weight(words[base | BYTES]!)
    words[base | STATE] = (state & ~STATE_MASK) | State.Delivered
    if (number !== this.oldest) return
    let oldest = number + 1
    while (oldest < this.newest && this.isDelivered(oldest)) oldest++
    this.oldest = oldest
  }

  /** It was under way, and is taken for lost. */
  lose(number: number): void {
    const base = this.base(number)
    const { words } = this.records
    this.unlink(base, false)
    this.flyingBytes -= weight(words[base | BYTES]!)
    words[base | STATE] = (words[base | STATE]! & ~STATE_MASK) | State.Lost
    this.append(number & this.mask, base, true)
    this.lostCount++
  }

  /** The packet sent before this one on its path, if it is still under way there: it is lost when this one has come. -1: none. */
  overtaken(number: number): number {
    const base = this.base(number)
    const { words, f64 } = this.records
    const distance = words[base | BEFORE]!
    if (distance === 0) return NONE
    const before = number - distance
    if (before < this.oldest || before >= this.newest) return NONE
    const other = this.base(before)
    const isThere =
      (words[other | STATE]! & STATE_MASK) === State.Flying &&
      words[other | DRAW] === words[base | DRAW] &&
      f64[(other >> 1) | F64]! < f64[(base >> 1) | F64]!
    return isThere ? before : NONE
  }

  /** Puts a packet at the end of the list of those under way, or of the lost. */
  private append(place: number, base: number, isLost: boolean): void {
    const { words } = this.records
    const tail = isLost ? this.lostTail : this.tail
    words[base | LINKS] = ((tail & LOW) << 16) | LOW
    if (tail !== NONE) {
      const at = ((this.block + tail) << RECORD_SHIFT) | LINKS
      words[at] = (words[at]! & ~LOW) | place
    } else if (isLost) this.lostHead = place
    else this.head = place
    if (isLost) this.lostTail = place
    else this.tail = place
  }

  private unlink(base: number, isLost: boolean): void {
    const { words } = this.records
    const links = words[base | LINKS]!
    const next = links & LOW
    const previous = links >>> 16
    if (previous !== LOW) {
      const at = ((this.block + previous) << RECORD_SHIFT) | LINKS
      words[at] = (words[at]! & ~LOW) | next
    } else if (isLost) this.lostHead = placeOf(next)
    else this.head = placeOf(next)
    if (next !== LOW) {
      const at = ((this.block + next) << RECORD_SHIFT) | LINKS
      words[at] = (words[at]! & LOW) | (previous << 16)
    } else if (isLost) this.lostTail = placeOf(previous)
    else this.tail = placeOf(previous)
  }

  /** Twice the room: packets, and links to them, move. */
  private grow(): void {
    const { block, mask: was, oldest, newest, records } = this
    const size = this.size < 0 ? FIRST_SIZE : this.size + 1
    const is = (1 << size) - 1
    const to = records.take(size)
    const { words, f64 } = records
    const moved = (place: number): number =>
      place === LOW || place === NONE ? place : (oldest + ((place - oldest) & was)) & is
    // Others have been here: of numbers that are kept and were not moved nothing is known but that they have come.
    for (let place = 0; place <= is; place++) {
      const base = (to + place) << RECORD_SHIFT
      words[base | STATE] = State.Delivered
      f64[(base >> 1) | F64] = Number.NaN
    }
    for (let number = oldest; number < newest; number++) {
      const from = (block + (number & was)) << RECORD_SHIFT
      const base = (to + (number & is)) << RECORD_SHIFT
      words.copyWithin(base, from, from + (1 << RECORD_SHIFT))
      const links = words[base | LINKS]!
      words[base | LINKS] = (moved(links >>> 16) << 16) | moved(links & LOW)
    }
    this.head = moved(this.head)
    this.tail = moved(this.tail)
    this.lostHead = moved(this.lostHead)
    this.lostTail = moved(this.lostTail)
    if (this.size >= 0) records.give(block, this.size)
    this.block = to
    this.size = size
    this.mask = is
  }

  /** Forgets what is kept of packets; none may be under way. */
  release(): void {
    if (this.size >= 0) this.records.give(this.block, this.size)
    this.size = -1
    this.mask = -1
  }
}

const weight = (bytes: number): number => (bytes === 0 ? 1 : bytes)
const placeOf = (link: number): number => (link === LOW ? NONE : link)
