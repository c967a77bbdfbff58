/** What is wrong with a text that should have been a time, a rate or a size. */
export class UnitError extends Error {
  readonly _tag = "UnitError"
  /** The kind of quantity that was expected: "time", "rate", "size". */
  readonly quantity: string
  /** The text as it was given. */
  readonly input: string
  /** Every accepted spelling of the unit. */
  readonly expected: ReadonlyArray<string>
  /** The accepted spelling nearest to the one given, when one is near. */
  readonly suggestion: string | undefined

  constructor(
    quantity: string,
    input: string,
    reason: string,
    expected: ReadonlyArray<string>,
    suggestion: string | undefined = undefined,
  ) {
    const hint = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`
    super(`"${input}" is no ${quantity}: ${reason}${hint}`)
    this.name = "UnitError"
    this.quantity = quantity
    this.input = input
    this.expected = expected
    this.suggestion = suggestion
  }
}
