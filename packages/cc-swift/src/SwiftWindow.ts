import type { Time } from "@rdmakit/protocol"
import type { SwiftLaw } from "./SwiftLaw.ts"

/** One congestion window of a flow, for the delay of the fabric or of the endpoints (Swift, Algorithm 1). */
export class SwiftWindow {
  /** cwnd, packets; below 1 the flow waits between packets. */
  packets: number = 0
  increases = 0
  decreases = 0
  private readonly law: SwiftLaw
  /** t_last_decrease. */
  private lastDecreasePs: Time = Number.NEGATIVE_INFINITY

  constructor(law: SwiftLaw) {
    this.law = law
    this.packets = Math.min(Math.max(law.initialWindowPackets, law.minWindowPackets), law.maxWindowPackets)
  }

  /**
   * On an acknowledgement: additive increase below the target, multiplicative decrease from it on.
   * @param rttPs a decrease comes at most once in it @param ackedPackets num_acked
   */
  react(now: Time, delayPs: number, targetPs: number, rttPs: number, ackedPackets: number): void {
    const { law, packets } = this
    if (delayPs < targetPs) {
      const step = law.additiveIncreasePackets * ackedPackets
      this.set(now, packets >= 1 ? packets + step / packets : packets + step)
    } else if (now - this.lastDecreasePs >= rttPs) {
      const factor = 1 - (law.beta * (delayPs - targetPs)) / delayPs
      this.set(now, packets * (factor > law.leastFactor ? factor : law.leastFactor))
    }
  }

  /** On a loss: the largest decrease, at most once a round trip. */
  cut(now: Time, rttPs: number): void {
    if (now - this.lastDecreasePs >= rttPs) this.set(now, this.packets * this.law.leastFactor)
  }

  /** After too many timeouts in a row. */
  reset(now: Time): void {
    this.set(now, this.law.minWindowPackets)
  }

  private set(now: Time, packets: number): void {
    const before = this.packets
    const { minWindowPackets, maxWindowPackets } = this.law
    this.packets =
      packets < minWindowPackets ? minWindowPackets : packets > maxWindowPackets ? maxWindowPackets : packets
    if (this.packets < before) {
      this.lastDecreasePs = now
      this.decreases++
    } else if (this.packets > before) {
      this.increases++
    }
  }
}
