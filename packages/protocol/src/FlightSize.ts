import type { Ack } from "./Controller.ts"

/** Duplicate acknowledgements that let a segment go each, Limited Transmit (RFC 3042 §2). */
const LIMITED = 2

/**
 * FlightSize (RFC 5681 §2), for controllers that go by it as TCP's do: what was sent and is not acknowledged in sequence,
 * bytes, but for what Limited Transmit has let go (RFC 5681 §3.2). `onSent` cannot tell what is sent anew from what is sent
 * again, so within a recovery it is kept up by acknowledgements alone.
 */
export class FlightSize {
  bytes: number = 0
  /** Acknowledged in sequence, bytes. */
  acknowledged: number = 0
  /** The end of what was sent, bytes; it falls where the transport goes back. And the highest that it ever was. */
  private end: number = 0
  private reached: number = 0
  /** Duplicate acknowledgements since the last new one, 2 at most; segments that they may still let go; bytes that have gone. */
  private duplicates = 0
  private allowance = 0
  private limited: number = 0

  /**
   * The highest byte transmitted (RFC 6582 §3.2: what `recover` is set to); within a recovery, as of the last
   * acknowledgement.
   */
  get highest(): number {
    return Math.max(this.reached, this.end)
  }

  /** Of `Controller.onSent`. @param recoverUntil the end of what a recovery sends again */
  onSent(bytes: number, recoverUntil: number): void {
    if (this.acknowledged < recoverUntil) return
    this.end += bytes
    if (this.allowance > 0) {
      this.allowance--
      this.limited += bytes
    }
    this.bytes = this.end - this.limited - this.acknowledged
  }

  /** Of `Controller.onAck`, before anything else. */
  onAck({ sequence, sent, bytes }: Ack): void {
    if (sequence > this.acknowledged) {
      this.acknowledged = sequence
      this.duplicates = 0
      this.allowance = 0
      this.limited = 0
    } else if (bytes === 0 && sequence === this.acknowledged && this.end > sequence && this.duplicates < LIMITED) {
      // RFC 5681 §2: a duplicate is one of data that are out. One that was overtaken says nothing.
      this.duplicates++
      this.allowance++
    }
    // `sent` has fallen where this acknowledgement makes the transport go back: the loss that follows is of what was out.
    const end = Math.max(this.end, sent)
    this.bytes = end - this.limited - this.acknowledged
    this.reached = Math.max(this.reached, end)
    if (sent < end) this.limited = 0
    this.end = sent
  }
}
