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

  /**
   * Paused time of all ports from `start` to `now`, ps, those still paused included. Where there were changes after `now`
   * they have been counted already: as much of a port's as fits into the time until then.
   */
  totalPs(now: Time, start: Time = 0): number {
    let sum = 0
    for (let port = 0; port < this.pausedPs.length; port++) {
      const since = this.mask[port] === 0 ? now : this.since[port]!
      sum += Math.min(now - start, this.pausedPs[port]! + Math.max(0, now - since))
    }
    return sum
  }
}
