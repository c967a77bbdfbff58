import type { PathInfo, Time } from "@rdmakit/protocol"
import type { TcpOptions } from "./TcpOptions.ts"
import { TcpWindow } from "./TcpWindow.ts"

const BETA = 0.5

/** NewReno (RFC 5681 §3.1, RFC 6582): a segment more each round trip, half the window at a loss. */
export class NewReno extends TcpWindow {
  private readonly beta: number

  constructor(options: TcpOptions, path: PathInfo) {
    super(options, path)
    this.beta = options.beta ?? BETA
  }

  protected grow(_now: Time, segments: number): void {
    this.setWindow(this.segments + segments / this.segments)
  }

  protected reduce(): number {
    return this.segments * this.beta
  }

  protected restart(): void {}
}
