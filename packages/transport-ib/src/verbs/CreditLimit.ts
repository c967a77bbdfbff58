import { PSN_MASK, psnDistance } from "@rdmakit/packet"
import { CREDITS_INVALID, creditsOf, SYNDROME_TYPE, Syndrome } from "./Aeth.ts"

/** End-to-end credits as a requester knows of them (IBTA 1.7 §9.7.7.2). */
export class CreditLimit {
  /** Requests up to this one, by their sequence (SSN), have a receive waiting (LSN). */
  limit = Number.POSITIVE_INFINITY
  /** The last request that the responder has completed. */
  private completed = 0
  private readonly used: boolean

  /** @param used the requester goes by credits */
  constructor(used: boolean) {
    this.used = used
  }

  /** A connection begins: the responder has told of no receive yet. */
  reset(): void {
    this.limit = this.used ? 0 : Number.POSITIVE_INFINITY
    this.completed = 0
  }

  /** An acknowledgement or a response came with this AETH. */
  take(aeth: number): void {
    if (!this.used) return
    const syndrome = aeth >>> 24
    if ((syndrome & SYNDROME_TYPE) !== Syndrome.Ack) return
    const sequence = this.completed + psnDistance(aeth, this.completed & PSN_MASK)
    // One that was overtaken.
    if (sequence < this.completed) return
    this.completed = sequence
    this.limit = syndrome === CREDITS_INVALID ? Number.POSITIVE_INFINITY : sequence + creditsOf(syndrome)
  }
}
