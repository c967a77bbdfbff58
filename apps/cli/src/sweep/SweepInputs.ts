import { Effect, Option } from "effect"
import type { ControllerInput } from "../ControllerModule.ts"
import { type Inputs, loadInputs } from "../Inputs.ts"

/** What every run of a sweep is made from. Plain data: workers are told it. */
export interface SweepSource {
  readonly file: string
  readonly set: ReadonlyArray<string>
  readonly controller: string | null
  readonly option: ReadonlyArray<string>
  /** The varied keys. */
  readonly keys: ReadonlyArray<string>
}

/** Keys of this kind are options of the user's controller. */
export const OPTION_PREFIX = "option."

/** Loads the inputs of one run: the file with a value for each varied key, as `--set` has it. */
export const loadRunInputs = (
  { file, set, controller, option, keys }: SweepSource,
  { values, seed }: { readonly values: ReadonlyArray<string>; readonly seed: number },
) => {
  const own: Array<string> = []
  const varied: Array<string> = []
  for (const [i, key] of keys.entries()) {
    if (controller !== null && key.startsWith(OPTION_PREFIX))
      own.push(`${key.slice(OPTION_PREFIX.length)}=${values[i]}`)
    else varied.push(`${key}=${values[i]}`)
  }
  const given: ControllerInput = { controller: Option.fromNullishOr(controller), option: [...option, ...own] }
  return Effect.map(
    loadInputs({ file, set: [...set, ...varied], seed: Option.some(seed), controller: given }),
    (inputs): Inputs => inputs,
  )
}
