/**
 * Proportional rate reduction (RFC 9937): how much a recovery may send. The flight shrinks to the reduced window in
 * proportion to what arrives; one that losses have made smaller grows back by what arrives, and by a segment more for each
 * acknowledgement that repairs something and tells of no other loss.
 */
export class RateReduction {
  /** What may go now, bytes; Infinity while no recovery is under way. */
  roomBytes: number = Infinity
  private readonly segmentBytes: number
  /** RecoverFS, prr_delivered and prr_out of the RFC, bytes. */
  private flightBytes = 0
  private deliveredBytes = 0
  private outBytes = 0

  constructor(segmentBytes: number) {
    this.segmentBytes = segmentBytes
  }

  /**
   * A recovery begins, and the first segment that was lost goes at once.
   * @param flightBytes what was in the network before the loss was found
   */
  begin(flightBytes: number): void {
    this.flightBytes = flightBytes
    this.deliveredBytes = 0
    this.outBytes = 0
    this.roomBytes = this.segmentBytes
  }

  end(): void {
    this.roomBytes = Infinity
  }

  /**
   * An acknowledgement during the recovery.
   * @param deliveredBytes what it says has come, in order or not
   * @param pipeBytes what is in the network
   * @param targetBytes the window that the recovery is to end with (ssthresh)
   * @param safe it moves the left edge, and nothing more was found to be lost (SafeACK)
   */
  acknowledged(deliveredBytes: number, pipeBytes: number, targetBytes: number, safe: boolean): void {
    if (deliveredBytes === 0) return
    this.deliveredBytes += deliveredBytes
    if (pipeBytes > targetBytes) {
      const share = Math.ceil((this.deliveredBytes * targetBytes) / this.flightBytes)
      this.roomBytes = share - this.outBytes
    } else {
      const arrived = Math.max(this.deliveredBytes - this.outBytes, deliveredBytes)
      this.roomBytes = Math.min(targetBytes - pipeBytes, arrived + (safe ? this.segmentBytes : 0))
    }
    if (this.outBytes === 0) this.roomBytes = Math.max(this.roomBytes, this.segmentBytes)
  }

  sent(bytes: number): void {
    this.outBytes += bytes
    this.roomBytes -= bytes
  }
}
