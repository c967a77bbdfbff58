import { ccModes } from "@rdmakit/ns3"
import { loadNs3Inputs, type Ns3Inputs } from "@rdmakit/scenario"
import { Effect } from "effect"
import { showNotes, withJsonFaults } from "./Faults.ts"
import { counted, short } from "./Figures.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen, WorkingDirectory } from "./Screen.ts"
import { readStandardInput, STDIN, STDIN_NAME } from "./StandardInput.ts"

export interface LintInput {
  readonly file: string
  readonly set: ReadonlyArray<string>
  readonly json: boolean
}

/** Checks inputs and says what is noteworthy about them. */
export const lint = (input: LintInput) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    const inputs = yield* loadInputs(input)
    const { notes } = inputs
    if (input.json) return yield* print(JSON.stringify({ file: inputs.name, ok: true, ...figuresOf(inputs), notes }))
    yield* showNotes(notes, out)
    const { flows, flowBytes, hosts, switches, controller } = figuresOf(inputs)
    const shape = `${counted(hosts, "host")}, ${counted(switches, "switch", "switches")}, ${counted(flows, "flow")} of ${short(flowBytes)}B`
    const warnings = notes.filter(({ kind }) => kind === "warning").length
    const remarks = `${counted(warnings, "warning")}, ${counted(notes.length - warnings, "note")}`
    yield* print(`${paintOf(out).green("ok")} ${inputs.name}: ${controller}, ${shape}; ${remarks}`)
  }).pipe(withJsonFaults(input.json, input.file))

/** Loads the inputs that a command line names. */
export const loadInputs = Effect.fnUntraced(function* (input: Pick<LintInput, "file" | "set">) {
  const options = { workingDirectory: yield* WorkingDirectory, overrides: input.set }
  if (input.file !== STDIN) return yield* loadNs3Inputs(input.file, options)
  return yield* loadNs3Inputs(STDIN_NAME, { ...options, configOctets: yield* readStandardInput })
})

const figuresOf = ({ config, topology, flows }: Ns3Inputs) => ({
  controller: ccModes[config.ccMode],
  hosts: topology.nodes - topology.switches.length,
  switches: topology.switches.length,
  links: topology.links.length,
  flows: flows.count,
  flowBytes: flows.sizeBytes.reduce((sum, bytes) => sum + bytes, 0),
})
