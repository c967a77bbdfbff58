import type { Time } from "@rdmakit/protocol"
import { HEAD, type PathTable, pathWord, TAIL } from "./PathTable.ts"

const NONE = -1

/** What has become of a packet. */
const State = { Delivered: 0, Flying: 1, Lost: 2 } as const

/** Words of a packet. */
const SHIFT = 3
/** `State` (bits 0 to 1) · sent again (bit 2) · path (from bit 8 on). */
const STATE = 0
const STATE_MASK = 3
const AGAIN = 4
const PATH_SHIFT = 8
const BYTES = 1
const DRAW = 2
/** The owner's: which message it is of. */
const TAG = 3
/** Neighbours in the order of sending, or among the lost; and among those of its path. Places, not numbers. */
const NEXT = 4
const PREVIOUS = 5
const PATH_NEXT = 6
const PATH_PREVIOUS = 7

/**
 * The packets of a context from the oldest that was not acknowledged to the newest. They are in a list in the order of
 * their last sending, in one of their path, or in that of the lost, which wait to be sent again. Packets are numbered
 * without wrapping; what is kept of one lies in a ring that grows with the window.
 */
export class SentPackets {
  /** The oldest that is not acknowledged, and one after the newest. */
  oldest = 0
  newest = 0
  /** Bytes under way: sent, neither acknowledged nor lost. A packet without bytes counts as one. */
  flyingBytes = 0
  lostCount = 0
  private mask = 7
  private words = new Int32Array(8 << SHIFT)
  private sentAts = new Float64Array(8)
  private head = NONE
  private tail = NONE
  private lostHead = NONE
  private lostTail = NONE
  private readonly paths: PathTable

  constructor(paths: PathTable) {
    this.paths = paths
  }

  /** Where a packet is kept; it must be one from `oldest` to before `newest`. */
  private at(number: number): number {
    return number & this.mask
  }
  private numberAt(place: number): number {
    return place === NONE ? NONE : this.oldest + ((place - this.at(this.oldest)) & this.mask)
  }

  /** What is known of it is kept: packets are remembered for a while after they were acknowledged. */
  isKept(number: number): boolean {
    return number < this.newest && number >= this.newest - this.mask - 1
  }
  isDelivered(number: number): boolean {
    return (this.words[this.at(number) << SHIFT]! & STATE_MASK) === State.Delivered
  }
  isFlying(number: number): boolean {
    return (this.words[this.at(number) << SHIFT]! & STATE_MASK) === State.Flying
  }
  /** It was sent more than once. */
  wasRepeated(number: number): boolean {
    return (this.words[this.at(number) << SHIFT]! & AGAIN) !== 0
  }
  bytesOf(number: number): number {
    return this.words[(this.at(number) << SHIFT) | BYTES]!
  }
  tagOf(number: number): number {
    return this.words[(this.at(number) << SHIFT) | TAG]!
  }
  pathOf(number: number): number {
    return this.words[this.at(number) << SHIFT]! >> PATH_SHIFT
  }
  drawOf(number: number): number {
    return this.words[(this.at(number) << SHIFT) | DRAW]!
  }
  /** When it was sent last, ps. */
  sentAt(number: number): Time {
    return this.sentAts[this.at(number)]!
  }

  /** Number of the packet whose sending is the longest ago, of those under way; -1: none is. */
  get firstFlying(): number {
    return this.numberAt(this.head)
  }
  /** Number of the packet that was found to be lost first and waits to be sent again; -1: none does. */
  get firstLost(): number {
    return this.numberAt(this.lostHead)
  }

  /** A new packet, about to be sent; its number. */
  add(bytes: number, tag: number): number {
    if (this.newest - this.oldest > this.mask) this.grow()
    const number = this.newest++
    const base = this.at(number) << SHIFT
    this.words[base | STATE] = State.Delivered
    this.words[base | BYTES] = bytes
    this.words[base | TAG] = tag
    return number
  }

  /** A packet leaves, the newest or the first of the lost. */
  send(number: number, now: Time, path: number, draw: number): void {
    const place = this.at(number)
    const base = place << SHIFT
    const { words } = this
    let again = 0
    if ((words[base | STATE]! & STATE_MASK) === State.Lost) {
      this.unlinkLost(place)
      again = AGAIN
    }
    words[base | STATE] = State.Flying | again | (path << PATH_SHIFT)
    words[base | DRAW] = draw
    this.sentAts[place] = now
    this.flyingBytes += weight(words[base | BYTES]!)
    words[base | NEXT] = NONE
    words[base | PREVIOUS] = this.tail
    if (this.tail === NONE) this.head = place
    else words[(this.tail << SHIFT) | NEXT] = place
    this.tail = place
    const own = this.paths.words
    const tail = own[pathWord(path, TAIL)]!
    words[base | PATH_NEXT] = NONE
    words[base | PATH_PREVIOUS] = tail
    if (tail === NONE) own[pathWord(path, HEAD)] = place
    else words[(tail << SHIFT) | PATH_NEXT] = place
    own[pathWord(path, TAIL)] = place
  }

  /** It has come, whether it was under way or taken for lost; it must not have been acknowledged before. */
  deliver(number: number): void {
    const place = this.at(number)
    const base = place << SHIFT
    const { words } = this
    const state = words[base | STATE]!
    if ((state & STATE_MASK) === State.Lost) this.unlinkLost(place)
    else this.unlink(place, state >> PATH_SHIFT)
    words[base | STATE] = (state & ~STATE_MASK) | State.Delivered
    if (number !== this.oldest) return
    let oldest = number + 1
    while (oldest < this.newest && this.isDelivered(oldest)) oldest++
    this.oldest = oldest
  }

  /** It was under way, and is taken for lost. */
  lose(number: number): void {
    const place = this.at(number)
    const base = place << SHIFT
    const { words } = this
    const state = words[base | STATE]!
    this.unlink(place, state >> PATH_SHIFT)
    words[base | STATE] = (state & ~STATE_MASK) | State.Lost
    words[base | NEXT] = NONE
    words[base | PREVIOUS] = this.lostTail
    if (this.lostTail === NONE) this.lostHead = place
    else words[(this.lostTail << SHIFT) | NEXT] = place
    this.lostTail = place
    this.lostCount++
  }

  /** The first packet under way on the same path, by the same draw, that was sent before this one; -1: there is none. */
  before(number: number): number {
    const { words } = this
    const place = this.at(number)
    const draw = words[(place << SHIFT) | DRAW]!
    let at = this.paths.words[pathWord(this.pathOf(number), HEAD)]!
    while (at !== place && words[(at << SHIFT) | DRAW] !== draw) at = words[(at << SHIFT) | PATH_NEXT]!
    return at === place ? NONE : this.numberAt(at)
  }

  private unlink(place: number, path: number): void {
    const base = place << SHIFT
    const { words } = this
    this.flyingBytes -= weight(words[base | BYTES]!)
    const next = words[base | NEXT]!
    const previous = words[base | PREVIOUS]!
    if (previous === NONE) this.head = next
    else words[(previous << SHIFT) | NEXT] = next
    if (next === NONE) this.tail = previous
    else words[(next << SHIFT) | PREVIOUS] = previous
    const own = this.paths.words
    const pathNext = words[base | PATH_NEXT]!
    const pathPrevious = words[base | PATH_PREVIOUS]!
    if (pathPrevious === NONE) own[pathWord(path, HEAD)] = pathNext
    else words[(pathPrevious << SHIFT) | PATH_NEXT] = pathNext
    if (pathNext === NONE) own[pathWord(path, TAIL)] = pathPrevious
    else words[(pathNext << SHIFT) | PATH_PREVIOUS] = pathPrevious
  }

  private unlinkLost(place: number): void {
    const base = place << SHIFT
    const { words } = this
    this.lostCount--
    const next = words[base | NEXT]!
    const previous = words[base | PREVIOUS]!
    if (previous === NONE) this.lostHead = next
    else words[(previous << SHIFT) | NEXT] = next
    if (next === NONE) this.lostTail = previous
    else words[(next << SHIFT) | PREVIOUS] = previous
  }

  /** Twice the room: packets, and links to them, move. */
  private grow(): void {
    const was = this.mask
    const from = { words: this.words, sentAts: this.sentAts }
    const is = 2 * was + 1
    const words = new Int32Array((is + 1) << SHIFT)
    const sentAts = new Float64Array(is + 1)
    const moved = (place: number): number => {
      if (place === NONE) return NONE
      const first = this.oldest & was
      return (this.oldest + ((place - first) & was)) & is
    }
    for (let number = this.oldest; number < this.newest; number++) {
      const old = number & was
      const place = number & is
      sentAts[place] = from.sentAts[old]!
      words.set(from.words.subarray(old << SHIFT, (old + 1) << SHIFT), place << SHIFT)
      for (const link of [NEXT, PREVIOUS, PATH_NEXT, PATH_PREVIOUS])
        words[(place << SHIFT) | link] = moved(words[(place << SHIFT) | link]!)
    }
    const { head, tail, lostHead, lostTail, paths } = this
    this.head = moved(head)
    this.tail = moved(tail)
    this.lostHead = moved(lostHead)
    this.lostTail = moved(lostTail)
    for (let path = 0; path < paths.count; path++) {
      for (const end of [HEAD, TAIL]) paths.words[pathWord(path, end)] = moved(paths.words[pathWord(path, end)]!)
    }
    this.mask = is
    this.words = words
    this.sentAts = sentAts
  }
}

const weight = (bytes: number): number => (bytes === 0 ? 1 : bytes)
