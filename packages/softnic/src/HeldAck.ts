import type { Time } from "@rdmakit/protocol"
import type { LinkPath } from "./Link.ts"

/** How often question and answer must have taken turns before acknowledgements are held, at first and at most. */
const TURNS_FIRST = 16
const TURNS_MOST = 1 << 10
/** Acknowledgements that may become one. */
const MERGED_MAX = 8
/** How long one waits for the next, and the first of those that have become one for all of them, ps. */
const NEXT_PS = 1e9
const ALL_PS = 2e9

/**
 * Where a queue pair's acknowledgement waits for the next. A positive acknowledgement tells of everything before it
 * (IBTA 1.7 §9.7.5.1.2), so that of two the first need not be sent. Where question and answer take turns, the peer lives by
 * the answers: half the packets of such a conversation, and half its system calls, are acknowledgements. They are held there
 * until some have become one, or for two milliseconds. When a millisecond brings no other, the peer may have waited for it:
 * then they have to take turns twice as long before it is tried again, and half as long when it went well.
 */
export class HeldAck {
  /** In the pool; -1: none is held. */
  handle = -1
  path: LinkPath | undefined = undefined
  octets: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  /** When the last of those that have become this one was kept, and the first. */
  private last: Time = 0
  private first: Time = 0
  private merged = 0
  private turns = 0
  private turnsNeeded = TURNS_FIRST
  private answered = true

  /** An acknowledgement is the engine's next packet. */
  acknowledges(): void {
    this.turns = this.answered ? this.turns + 1 : 0
    this.answered = false
  }

  /** A request of the program's own is. */
  answers(): void {
    this.answered = true
  }

  /** Keeps it. What was kept before is to be given back. */
  keep(now: Time, path: LinkPath, handle: number, octets: Uint8Array, start: number, end: number): void {
    if (this.handle < 0) {
      this.first = now
      this.merged = 0
    }
    this.last = now
    this.merged++
    this.path = path
    this.handle = handle
    this.octets = octets
    this.start = start
    this.end = end
  }

  /** Whether it may wait for another. */
  waits(): boolean {
    if (this.turns < this.turnsNeeded) return false
    if (this.merged < MERGED_MAX) return true
    this.turnsNeeded = Math.max(TURNS_FIRST, this.turnsNeeded >> 1)
    return false
  }

  /** Whether its time is over. When no other came to join it, the next is held the later. */
  isOver(now: Time): boolean {
    if (now - this.last < NEXT_PS) return now - this.first >= ALL_PS
    this.turns = 0
    this.turnsNeeded = Math.min(TURNS_MOST, 2 * this.turnsNeeded)
    return true
  }
}
