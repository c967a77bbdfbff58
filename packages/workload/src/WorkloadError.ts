/** An option of a workload that makes no workload. */
export class WorkloadError extends Error {
  readonly _tag = "WorkloadError"
  /** The option at fault, as its interface names it: "load", "hosts". */
  readonly option: string
  readonly found: string
  readonly expected: string
  /** Why, or what to do about it. */
  readonly hint: string | undefined

  constructor(option: string, found: unknown, expected: string, hint?: string) {
    super(`${option} is ${String(found)}, expected ${expected}${hint === undefined ? "" : `; ${hint}`}`)
    this.name = "WorkloadError"
    this.option = option
    this.found = String(found)
    this.expected = expected
    this.hint = hint
  }
}
