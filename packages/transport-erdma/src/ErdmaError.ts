import { OptionError, optionChecks } from "@rdmakit/protocol"

/** An option that eRDMA cannot work with. */
export class ErdmaError extends OptionError {
  readonly _tag = "ErdmaError"
  override readonly name = "ErdmaError"

  constructor(option: string, value: unknown, expected: string) {
    super("erdma", option, value, expected)
  }
}

/** Throws `ErdmaError` unless the value is legal. */
export const { check } = optionChecks(ErdmaError)
