import { NEVER, type Time } from "@rdmakit/protocol"
import { localAckTimeoutPs } from "../RcConfig.ts"

/** How many times the timeout a requester may wait (IBTA 1.7 §9.7.6.1.3, lost acknowledgements and timeouts). */
const PATIENCE = 4

/**
 * The transport timer of a requester (IBTA 1.7 §9.7.6.1.3): it runs while requests are unacknowledged, from the last
 * progress on. Of a peer that answers, and takes long to, it waits for longer: twice what answers take, up to four times
 * the timeout. Ahead of it, where they are asked for, early retransmissions come at doubling distances.
 */
export class AckTimer {
  /** When the timeout comes, which counts as a retry; when an early retransmission does. */
  deadline: Time = NEVER
  earlyDeadline: Time = NEVER
  private timeoutPs: Time = NEVER
  /** From one to four times the timeout. */
  private waitPs: Time = NEVER
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
    this.waitPs = this.timeoutPs
  }

  get next(): Time {
    return this.deadline < this.earlyDeadline ? this.deadline : this.earlyDeadline
  }

  /** A request left: the timer runs, if it did not. */
  run(now: Time): void {
    if (this.deadline !== NEVER || this.earlyDeadline !== NEVER) return
    this.deadline = now + this.waitPs
    this.earlyDeadline = now + this.earlyPs
  }

  /**
   * There was progress. @param rttPs since the request that was answered left, ps; NaN: nobody knows
   * @param more something is still unacknowledged
   */
  progressed(now: Time, rttPs: Time, more: boolean): void {
    const { timeoutPs } = this
    if (!Number.isNaN(rttPs)) this.waitPs = Math.max(timeoutPs, Math.min(2 * rttPs, PATIENCE * timeoutPs))
    this.reset()
    if (more) this.run(now)
  }

  /** The peer answers, though not what was waited for: it has the whole time again. */
  extend(now: Time): void {
    if (this.deadline !== NEVER) this.deadline = now + this.waitPs
  }

  /** The peer answers what was sent again in vain: it is slow. */
  slow(now: Time): void {
    this.waitPs = PATIENCE * this.timeoutPs
    this.extend(now)
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
