import type { Time } from "@rdmakit/protocol"

/** After so many events that were nobody's concern it is worth a look whether there will be others. */
const IDLE_EVENTS = 1024
/** After so many in which nobody did anything it is worth a look whether all wait for receives. */
const UNEVENTFUL = 64

/**
 * Tells when nothing can happen any more in a network whose queue of events never empties: timers of controllers may go on
 * for ever, and bring nothing about where there is nothing to send; nor do queue pairs that ask for a receive which nobody
 * is left to post.
 */
export class Quiescence {
  /** Nothing will happen, unless somebody outside of the network does something. */
  isQuiet = false
  /** Whether nothing is under way, and nobody has anything to do that was done nothing about since this time. */
  private readonly isAtRest: (lastDeed: Time) => boolean
  /** Events since the last that was more than a controller's timer, and since the last deed. */
  private idleEvents = 0
  private uneventful = 0
  /** When a program was last told of anything, did anything, or a link changed. */
  private lastDeed: Time = 0

  constructor(isAtRest: (lastDeed: Time) => boolean) {
    this.isAtRest = isAtRest
  }

  /** An event was more than a controller's timer. */
  noteEvent(): void {
    this.idleEvents = 0
  }

  /** A program is told of something, does something, or a link changes. */
  noteDeed(now: Time): void {
    this.lastDeed = now
    this.uneventful = 0
  }

  /**
   * Before an event, and after all that the last one brought about: looks whether there will be any that matters, when it
   * is worth it.
   *
   * @param travels whether a packet is under way
   */
  look(travels: boolean): boolean {
    const isUneventful = ++this.uneventful >= UNEVENTFUL && !travels
    if (isUneventful || this.idleEvents >= IDLE_EVENTS) {
      this.idleEvents = 0
      this.isQuiet = this.isAtRest(this.lastDeed)
    }
    this.idleEvents++
    return this.isQuiet
  }
}
