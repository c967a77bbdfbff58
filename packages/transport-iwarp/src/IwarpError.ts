/** An option, or a queue pair, that iWARP cannot have. */
export class IwarpError extends Error {
  readonly _tag = "IwarpError"
  override readonly name = "IwarpError"
  readonly option: string
  readonly found: unknown
  readonly expected: string

  constructor(option: string, found: unknown, expected: string) {
    super(`iwarp: ${option}: found ${String(found)}, expected ${expected}`)
    this.option = option
    this.found = found
    this.expected = expected
  }
}
