import type { Ack } from "./Controller.ts"

/**
 * FlightSize (RFC 5681 §2), for controllers that go by it as TCP's do: what was sent and is not acknowledged in sequence,
 * bytes. What duplicate acknowledgements let go is no part of it (Limited Transmit, §3.2). It is kept up outside of
 * recoveries alone, which need it not.
 */
export class FlightSize {
  bytes: number = 0
  /** Acknowledged in sequence, bytes. */
  acknowledged: number = 0
  /** The end of what was ever sent, as of the last acknowledgement, bytes. */
  private reached: number = 0
  /** The end of what was sent, as far as it counts. */
  private end: number = 0
  /** Nothing new was acknowledged last. */
  private duplicates = false

  /** The highest byte transmitted (RFC 6582 §3.2: what `recover` is set to). */
  get highest(): number {
    return Math.max(this.reached, this.end)
  }

  /** Of `Controller.onSent`. @param recoverUntil the end of what a recovery sends again */
  onSent(bytes: number, recoverUntil: number): void {
    if (this.duplicates || this.acknowledged < recoverUntil) return
    this.end += bytes
    this.bytes = this.end - this.acknowledged
  }

  /** Of `Controller.onAck`, before anything else. */
  onAck({ sequence, sent, bytes }: Ack): void {
    const duplicate = bytes === 0 && sequence <= this.acknowledged
    if (sequence > this.acknowledged) this.acknowledged = sequence
    this.reached = Math.max(this.reached, this.end, sent)
    if (!duplicate || !this.duplicates) {
      // `sent` has fallen where this acknowledgement makes the transport go back: the loss that follows is of what was out.
      this.bytes = Math.max(this.end, sent) - this.acknowledged
      this.end = sent
    }
    this.duplicates = duplicate
  }
}
