import type { Time } from "@rdmakit/protocol"

/** Flows that have failed: they are no longer under way, and never finish. */
export class FlowFailures {
  /** When the last of them failed, ps; 0 while none has. */
  last: Time = 0
  private readonly reasons = new Map<number, string>()

  /** A flow fails. @param reason in words */
  add(now: Time, flow: number, reason: string): void {
    this.last = Math.max(this.last, now)
    this.reasons.set(flow, reason)
  }

  get count(): number {
    return this.reasons.size
  }
  has(flow: number): boolean {
    return this.reasons.has(flow)
  }
  /** Why a flow failed; undefined: it did not. */
  reason(flow: number): string | undefined {
    return this.reasons.get(flow)
  }
}
