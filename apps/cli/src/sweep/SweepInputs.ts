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

/** The key whose values may be modules beside names. */
const CONTROLLER_KEY = "controller.name"

/** Whether a value of `controller.name` is a module of the user's. */
const isModule = (value: string): boolean => /\.(?:[cm]?ts|[cm]?js)$/.test(value)

/** The user's module that makes the controller of these values; null where none does. */
export const moduleOf = (
  { controller, keys }: Pick<SweepSource, "controller" | "keys">,
  values: ReadonlyArray<string>,
): string | null => {
  if (controller !== null) return controller
  const value = values[keys.indexOf(CONTROLLER_KEY)]
  return value !== undefined && isModule(value) ? value : null
}

/** Loads the inputs of one run: the file with a value for each varied key, as `--set` has it. */
export const loadRunInputs = (
  source: SweepSource,
  { values, seed }: { readonly values: ReadonlyArray<string>; readonly seed: number },
) => {
  const { file, set, option, keys } = source
  const controller = moduleOf(source, values)
  const own: Array<string> = []
  const varied: Array<string> = []
  for (const [i, key] of keys.entries()) {
    if (controller !== null && key.startsWith(OPTION_PREFIX))
      own.push(`${key.slice(OPTION_PREFIX.length)}=${values[i]}`)
    else if (key !== CONTROLLER_KEY || controller === null) varied.push(`${key}=${values[i]}`)
  }
  const given: ControllerInput = { controller: Option.fromNullishOr(controller), option: [...option, ...own] }
  return Effect.map(
    loadInputs({ file, set: [...set, ...varied], seed: Option.some(seed), controller: given }),
    (inputs): Inputs => inputs,
  )
}
