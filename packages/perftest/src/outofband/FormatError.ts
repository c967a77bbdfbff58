import { Data } from "effect"

/** A message from a peer that is not what its tool sends. */
export class FormatError extends Data.TaggedError("FormatError")<{
  /** Which message, as "perftest keys". */
  readonly format: string
  readonly field: string
  readonly found: string
  readonly expected: string
}> {
  override get message(): string {
    return `${this.format}, ${this.field}: found ${this.found}, expected ${this.expected}`
  }
}
