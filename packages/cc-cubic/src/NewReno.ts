import type { PathInfo, Time } from "@rdmakit/protocol"
import type { TcpOptions } from "./TcpOptions.ts"
import { TcpWindow } from "./TcpWindow.ts"

const BETA = 0.5

/** NewReno (RFC 5681 §3.1, RFC 6582): a segment more each round trip, half of what was out at a loss. */
export class NewReno extends TcpWindow {
  private readonly beta: number

  constructor(options: TcpOptions, path: PathInfo) {
    super(options, path)
    this.beta = options.beta ?? BETA
  }

  protected grow(_now: Time, segments: number): void {
    this.setWindow(this.segments + segments / this.segments)
  }

  /**
   * RFC 5681 §3.1, equation 4: a loss leaves half of what was out, which is less than the window where something else was
   * the limit. A mark leaves half of the window (RFC 3168 §6.1.2).
   */
  protected reduce(lost: boolean): number {
    const segments = lost ? Math.min(this.segments, this.flight.bytes / this.segmentBytes) : this.segments
    return segments * this.beta
  }

  protected restart(): void {}

  protected restartIdle(): void {}
}
