import { OptionError, optionChecks, type Time } from "@rdmakit/protocol"

/** An option, or a field of one, that no network can be put together with. */
export class NetworkOptionError extends OptionError {
  readonly _tag = "NetworkOptionError"
  override readonly name = "NetworkOptionError"

  constructor(option: string, value: unknown, expected: string) {
    super("network", option, value, expected)
  }
}

/** Checks that throw `NetworkOptionError`. */
export const { check, checkInteger, checkBoolean, checkWord } = optionChecks(NetworkOptionError)

/** Refuses what is no moment of a run, ps: events happen at whole picoseconds. */
export const checkMoment = (option: string, value: Time): void =>
  check(option, value, Number.isSafeInteger(value) && value >= 0, "whole picoseconds, at least 0")
