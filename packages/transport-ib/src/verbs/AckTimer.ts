import { NEVER, type Time } from "@rdmakit/protocol"
import { localAckTimeoutPs } from "../RcConfig.ts"

/**
 * The transport timer of a requester (IBTA 1.7 §9.7.6.1.3): it runs while requests are unacknowledged, from the last
 * progress on. Ahead of it, where they are asked for, early retransmissions come at doubling distances.
 */
export class AckTimer {
  /** When the timeout comes, which counts as a retry; when an early retransmission does. */
  deadline: Time = NEVER
  earlyDeadline: Time = NEVER
  private timeoutPs: Time = NEVER
  private readonly firstEarlyPs: Time
  private earlyPs: Time

  /** @param earlyPs until the first early retransmission; NEVER: there is none */
  constructor(earlyPs: Time) {
    this.firstEarlyPs = earlyPs
    this.earlyPs = earlyPs
  }

  /** @param code of IBTA's Local ACK Timeout, 0 to 31; 0: never */
  set(code: number): void {
    this.timeoutPs = localAckTimeoutPs(code)
  }

  get next(): Time {
    return this.deadline < this.earlyDeadline ? this.deadline : this.earlyDeadline
  }

  /** A request left: the timer runs, if it did not. */
  run(now: Time): void {
    if (this.deadline !== NEVER || this.earlyDeadline !== NEVER) return
    this.deadline = now + this.timeoutPs
    this.earlyDeadline = now + this.earlyPs
  }

  /** There was progress, and something is still unacknowledged. */
  restart(now: Time): void {
    this.earlyPs = this.firstEarlyPs
    this.deadline = now + this.timeoutPs
    this.earlyDeadline = now + this.earlyPs
  }

  /** The peer answers, though not what was waited for: it has the whole time again. */
  extend(now: Time): void {
    if (this.deadline !== NEVER) this.deadline = now + this.timeoutPs
  }

  /** Nothing is unacknowledged, or what is will be sent again: it runs again with the next packet. */
  stop(): void {
    this.deadline = NEVER
    this.earlyDeadline = NEVER
  }

  /** An early retransmission is due: the next one comes after twice the time. The timeout runs on. */
  takeEarly(now: Time): void {
    this.earlyPs *= 2
    this.earlyDeadline = now + this.earlyPs
  }

  reset(): void {
    this.stop()
    this.earlyPs = this.firstEarlyPs
  }
}
