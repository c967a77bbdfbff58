import { Effect } from "effect"
import type { ControllerInput } from "./ControllerModule.ts"
import { foldIdleKeys, showNotes, withJsonFaults } from "./Faults.ts"
import { counted, short } from "./Figures.ts"
import { figuresOf, loadInputs, nameOf, notesOf } from "./Inputs.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen } from "./Screen.ts"

export interface LintInput extends ControllerInput {
  readonly file: string
  readonly set: ReadonlyArray<string>
  /** Name each key without effect. */
  readonly all: boolean
  readonly json: boolean
}

/** Checks inputs and says what is noteworthy about them. */
export const lint = (input: LintInput) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    const inputs = yield* loadInputs({ file: input.file, set: input.set, controller: input })
    const name = nameOf(inputs)
    const notes = notesOf(inputs)
    if (input.json) return yield* print(JSON.stringify({ file: name, ok: true, ...figuresOf(inputs), notes }))
    yield* showNotes(input.all ? notes : foldIdleKeys(notes), out)
    const { flows, flowBytes, hosts, switches, controller } = figuresOf(inputs)
    const shape = `${counted(hosts, "host")}, ${counted(switches, "switch", "switches")}, ${counted(flows, "flow")} of ${short(flowBytes)}B`
    const warnings = notes.filter(({ kind }) => kind === "warning").length
    const remarks = `${counted(warnings, "warning")}, ${counted(notes.length - warnings, "note")}`
    yield* print(`${paintOf(out).green("ok")} ${name}: ${controller}, ${shape}; ${remarks}`)
  }).pipe(withJsonFaults(input.json, input.file))
