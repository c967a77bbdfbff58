import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"

const NONE = -1

/** Round trips of a requester: by the stamp that an acknowledgement brings back, else of one packet at a time. */
export class RoundTrip {
  /** The packet whose acknowledgement is timed, or NONE; and when it left. */
  private packet = NONE
  private leftAt: Time = 0

  /** The packet that was timed is sent again: which sending is acknowledged, nobody can tell (Karn). */
  forget(): void {
    this.packet = NONE
  }

  /** A packet leaves that was never sent before. */
  left(now: Time, number: number): void {
    if (this.packet !== NONE) return
    this.packet = number
    this.leftAt = now
  }

  /**
   * All packets before this number are acknowledged.
   *
   * @returns ps; NaN when nothing tells
   */
  measure(now: Time, acknowledgement: Packet, number: number): Time {
    const isTimed = this.packet !== NONE && number > this.packet
    if (isTimed) this.packet = NONE
    if (acknowledgement.stamp > 0) return now - acknowledgement.stamp
    return isTimed ? now - this.leftAt : Number.NaN
  }
}
