/** What cannot be opened, or options that no port can have. */
export class SoftnicError extends Error {
  readonly _tag = "SoftnicError"
  /** The option, or what was being done. */
  readonly what: string
  readonly found: string
  /** What was expected, or can be done about it. */
  readonly expected: string
  constructor(what: string, found: string, expected: string, cause?: unknown) {
    super(`${what}: found ${found}, expected ${expected}`, cause === undefined ? {} : { cause })
    this.what = what
    this.found = found
    this.expected = expected
  }
}
