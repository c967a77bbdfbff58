import { shown } from "@rdmakit/protocol"

/** An option, or a queue pair, that iWARP cannot have. */
export class IwarpError extends Error {
  readonly _tag = "IwarpError"
  override readonly name = "IwarpError"
  /** The option, as the interface spells it. */
  readonly option: string
  /** What it was. */
  readonly value: unknown
  /** What it has to be. */
  readonly expected: string

  constructor(option: string, value: unknown, expected: string) {
    super(`iwarp: ${option} is ${shown(value)}, expected ${expected}`)
    this.option = option
    this.value = value
    this.expected = expected
  }
}

/** Throws `IwarpError` unless the value is legal. */
export const check = (option: string, value: unknown, legal: boolean, expected: string): void => {
  if (!legal) throw new IwarpError(option, value, expected)
}
