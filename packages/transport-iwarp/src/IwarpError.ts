import { OptionError, optionChecks } from "@rdmakit/protocol"

/** An option, or a queue pair, that iWARP cannot have. */
export class IwarpError extends OptionError {
  readonly _tag = "IwarpError"
  override readonly name = "IwarpError"

  constructor(option: string, value: unknown, expected: string) {
    super("iwarp", option, value, expected)
  }
}

/** Throws `IwarpError` unless the value is legal. */
export const { check } = optionChecks(IwarpError)
