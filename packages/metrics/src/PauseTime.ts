import type { Time } from "@rdmakit/units"

const PRIORITIES = 8

/**
 * For how long ports were paused (IEEE 802.1Qbb): a port is while at least one of its priorities is. It is told of
 * every pause and resume that takes effect, in order of time.
 */
export class PauseTime {
  private readonly start: Time
  private readonly mask: Uint8Array
  private readonly since: Float64Array
  private readonly ended: Float64Array
  private readonly pauses: Float64Array

  /**
   * @param ports numbered from 0
   * @param start of what fractions are of, ps
   */
  constructor(ports: number, start: Time = 0) {
    this.start = start
    this.mask = new Uint8Array(ports)
    this.since = new Float64Array(ports)
    this.ended = new Float64Array(ports)
    this.pauses = new Float64Array(ports)
  }

  /**
   * A pause or a resume takes effect; one that changes nothing is counted all the same, if it is a pause.
   *
   * @param priority 0 to 7
   * @throws RangeError for another
   */
  change(now: Time, port: number, priority: number, paused: boolean): void {
    if (!(priority >= 0 && priority < PRIORITIES)) throw new RangeError(`priority is ${priority}, expected 0 to 7`)
    const was = this.mask[port]!
    const is = paused ? was | (1 << priority) : was & ~(1 << priority)
    this.mask[port] = is
    if (paused) this.pauses[port]!++
    if (was === 0 && is !== 0) this.since[port] = now
    else if (was !== 0 && is === 0) this.ended[port]! += now - this.since[port]!
  }

  /** Pauses of a port so far. */
  count(port: number): number {
    return this.pauses[port]!
  }

  /**
   * Paused time of a port from the start to `now`, ps. Where there were changes after `now` they have been counted already:
   * as much of it as fits into the time until then.
   */
  paused(port: number, now: Time): Time {
    const since = this.mask[port] === 0 ? now : this.since[port]!
    return Math.min(now - this.start, this.ended[port]! + Math.max(0, now - since))
  }

  /** Share of the time from the start to `now` in which a port was paused, 0 to 1; 0 over no time. */
  fraction(port: number, now: Time): number {
    return now > this.start ? this.paused(port, now) / (now - this.start) : 0
  }

  /** Mean of that over all ports. */
  meanFraction(now: Time): number {
    const ports = this.mask.length
    let sum = 0
    for (let port = 0; port < ports; port++) sum += this.paused(port, now)
    return now > this.start && ports > 0 ? sum / (now - this.start) / ports : 0
  }
}
