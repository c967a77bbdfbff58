import { shown } from "@rdmakit/protocol"

/** An option that eRDMA cannot work with. */
export class ErdmaError extends Error {
  readonly _tag = "ErdmaError"
  override readonly name = "ErdmaError"
  /** The option, as the interface spells it. */
  readonly option: string
  /** What it was. */
  readonly value: unknown
  /** What it has to be. */
  readonly expected: string

  constructor(option: string, value: unknown, expected: string) {
    super(`erdma: ${option} is ${shown(value)}, expected ${expected}`)
    this.option = option
    this.value = value
    this.expected = expected
  }
}

/** Throws `ErdmaError` unless the value is legal. */
export const check = (option: string, value: unknown, legal: boolean, expected: string): void => {
  if (!legal) throw new ErdmaError(option, value, expected)
}
