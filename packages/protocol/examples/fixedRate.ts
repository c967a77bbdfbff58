import { type Ack, AckController, type ControllerFactory, type PathInfo, type Time } from "@rdmakit/protocol"

/** A fixed share of the line rate, whatever happens; the window of the run, if it gives one. */
class FixedRate extends AckController {
  readonly rate: number
  readonly window: number
  private sentBytes = 0

  constructor(share: number, path: PathInfo) {
    super()
    this.rate = share * path.lineRateBps
    this.window = path.windowBytes === 0 ? Number.POSITIVE_INFINITY : path.windowBytes
  }
  override onSent(_now: Time, bytes: number): void {
    this.sentBytes += bytes
  }
  // False: no control law ran, so a transport has nothing to set anew.
  onAck(_now: Time, _ack: Ack): boolean {
    return false
  }
  metrics(): Readonly<Record<string, number>> {
    return { sentBytes: this.sentBytes }
  }
}

export const fixedRate = (share: number): ControllerFactory => ({
  name: `fixed-rate/${share}`,
  needs: [],
  make: (_now, path) => new FixedRate(share, path),
})
