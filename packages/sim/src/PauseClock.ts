import type { Time } from "@rdmakit/protocol"

/** How long ports have been paused: per port, the time during which at least one priority was. */
export class PauseClock {
  /** Pause frames that took effect. */
  pauses = 0
  /** Paused time of each port that has ended, ps. */
  readonly pausedPs: Float64Array
  private readonly since: Float64Array
  private readonly mask: Int32Array

  constructor(ports: number) {
    this.pausedPs = new Float64Array(ports)
    this.since = new Float64Array(ports)
    this.mask = new Int32Array(ports)
  }

  change(now: Time, port: number, was: number, is: number, pause: boolean): void {
    if (pause) this.pauses++
    this.mask[port] = is
    if (was === 0 && is !== 0) this.since[port] = now
    else if (was !== 0 && is === 0) this.pausedPs[port]! += now - this.since[port]!
  }

  /** Paused time of all ports up to `now`, ps, those still paused included, and what ended after `now` too. */
  totalPs(now: Time): number {
    let sum = 0
    for (let port = 0; port < this.pausedPs.length; port++) {
      sum += this.pausedPs[port]!
      if (this.mask[port] !== 0) sum += Math.max(0, now - this.since[port]!)
    }
    return sum
  }
}
