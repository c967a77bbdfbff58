// A congestion controller of one's own: additive increase, multiplicative decrease on ECN marks, once a round trip.
// `controllerSuite(aimd)` says whether it keeps the contract.
import { type Ack, AckController, type ControllerFactory, type PathInfo } from "@rdmakit/protocol"

class Aimd extends AckController {
  rate: number = 0
  window: number = 0
  private readonly path: PathInfo
  private decisionAt = 0

  constructor(path: PathInfo) {
    super()
    this.path = path
    this.rate = path.lineRateBps
    this.window = path.windowBytes > 0 ? path.windowBytes : Infinity
  }

  onAck(_now: number, ack: Ack): boolean {
    if (ack.sequence <= this.decisionAt) return false
    this.decisionAt = ack.sent
    const { lineRateBps } = this.path
    this.set(ack.congestion ? this.rate * 0.7 : this.rate + lineRateBps / 200)
    return true
  }

  override onLoss(): boolean {
    this.set(this.rate / 2)
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return { decisionAt: this.decisionAt }
  }

  private set(rate: number): void {
    const { lineRateBps, windowBytes } = this.path
    this.rate = Math.min(Math.max(rate, lineRateBps / 1000), lineRateBps)
    if (windowBytes > 0) this.window = Math.max(1, Math.floor((windowBytes * this.rate) / lineRateBps))
  }
}

export const aimd: ControllerFactory = {
  name: "aimd",
  needs: ["ecn"],
  make: (_now, path) => new Aimd(path),
}
