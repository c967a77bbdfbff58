import type { Time } from "@rdmakit/protocol"

/** Picoseconds in a millisecond. */
const PS_PER_MS = 1e9

/** Real time, counted from when the clock was made, ps; it never goes back. */
export class Clock {
  private readonly origin = performance.now()
  /** Nanoseconds since 1970 of time 0, for capture files. */
  readonly startNs: bigint = BigInt(Math.round((performance.timeOrigin + this.origin) * 1e6))

  now(): Time {
    return Math.round((performance.now() - this.origin) * PS_PER_MS)
  }
}
