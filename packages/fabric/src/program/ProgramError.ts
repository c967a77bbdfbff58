import type { Time } from "@rdmakit/protocol"
import { formatTime } from "@rdmakit/units"
import { Data } from "effect"

/** Lines of what is outstanding that a message shows. */
const LINES_MAX = 12

/**
 * A program in virtual time that can never go on: it waits, and nothing is left to happen. It was interrupted, and its
 * finalizers have run, as far as they do not wait for ever themselves.
 */
export class Stalled extends Data.TaggedError("Stalled")<{
  /** When the last event was, ps: it may have been a timer that had become void. */
  readonly time: Time
  /** What has been asked for and has not come, a line each. */
  readonly outstanding: ReadonlyArray<string>
}> {
  override get message(): string {
    const { outstanding } = this
    const lines = outstanding.slice(0, LINES_MAX)
    if (outstanding.length > LINES_MAX) lines.push(`and ${outstanding.length - LINES_MAX} more`)
    const what = lines.length === 0 ? "no work request is outstanding" : lines.join("\n  ")
    return `the program waits at ${formatTime(this.time)}, and nothing is left that could wake it: ${what}. In virtual time nothing comes from outside: a promise, a timer of the platform or a message of another process never arrives`
  }
}

/** A fiber of a program in virtual time was resumed by something that has no place in it. */
export class OutsideTime extends Data.TaggedError("OutsideTime")<{
  /** How far virtual time had come, ps. */
  readonly time: Time
}> {
  override get message(): string {
    return `a fiber was resumed from outside of virtual time, which had come to ${formatTime(this.time)}: by a promise, a timer of the platform or another program. When it comes is not reproducible: have what it brings before the program starts`
  }
}

/** A program that has not ended at the time it was given. */
export class TimeExceeded extends Data.TaggedError("TimeExceeded")<{
  /** The limit, ps. */
  readonly until: Time
  readonly outstanding: ReadonlyArray<string>
}> {
  override get message(): string {
    return `the program had not ended at ${formatTime(this.until)}, the limit of its run`
  }
}
