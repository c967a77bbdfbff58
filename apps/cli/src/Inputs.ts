import { ccModes } from "@rdmakit/ns3"
import {
  type InputNote,
  isScenarioName,
  isScenarioText,
  loadNs3Inputs,
  loadScenario,
  type Ns3Inputs,
  type ScenarioInputs,
} from "@rdmakit/scenario"
import type { Graph } from "@rdmakit/topology"
import { Effect, Option } from "effect"
import { type ControllerInput, loadController, noController } from "./ControllerModule.ts"
import { Refused } from "./Exit.ts"
import { memoryBytes } from "./Memory.ts"
import { WorkingDirectory } from "./Screen.ts"
import { readStandardInput, STDIN, STDIN_NAME } from "./StandardInput.ts"

/** What a command line names: a config of the HPCC simulator, or a scenario; read and checked. */
export type Inputs =
  | { readonly kind: "ns3"; readonly ns3: Ns3Inputs }
  | { readonly kind: "scenario"; readonly scenario: ScenarioInputs }

/** Loads the inputs that a command line names: a scenario by its ending (.yaml, .yml, .json), else a config. */
export const loadInputs = Effect.fnUntraced(function* (input: {
  readonly file: string
  readonly set: ReadonlyArray<string>
  /** In place of a scenario's own: its workloads are drawn from it. */
  readonly seed?: Option.Option<number>
  /** In place of the controller that they name. */
  readonly controller?: ControllerInput
}) {
  if (input.file === "")
    return yield* new Refused({ message: 'FILE: found "", expected the name of a config or a scenario' })
  const controller = yield* loadController(input.controller ?? noController)
  const workingDirectory = yield* WorkingDirectory
  const options = { workingDirectory, overrides: input.set, controller, memoryBytes: memoryBytes() }
  const octets = input.file === STDIN ? yield* readStandardInput : undefined
  const name = octets === undefined ? input.file : STDIN_NAME
  const isScenario = octets === undefined ? isScenarioName(name) : isScenarioText(octets)
  if (!isScenario) {
    const given = octets === undefined ? options : { ...options, configOctets: octets }
    return { kind: "ns3", ns3: yield* loadNs3Inputs(name, given) } as Inputs
  }
  const seeds = Option.toArray(input.seed ?? Option.none()).map((seed) => `seed=${seed}`)
  const overrides = [...input.set, ...seeds]
  return {
    kind: "scenario",
    scenario: yield* loadScenario(name, { ...options, overrides, ...(octets === undefined ? {} : { octets }) }),
  } as Inputs
})

export const nameOf = (inputs: Inputs): string => (inputs.kind === "ns3" ? inputs.ns3.name : inputs.scenario.name)

export const notesOf = (inputs: Inputs): ReadonlyArray<InputNote> =>
  inputs.kind === "ns3" ? inputs.ns3.notes : inputs.scenario.notes

export const graphOf = (inputs: Inputs): Graph => (inputs.kind === "ns3" ? inputs.ns3.graph : inputs.scenario.graph)

/** The inputs in a few figures. */
export const figuresOf = (inputs: Inputs) => {
  const graph = graphOf(inputs)
  const switches = graph.isSwitch.reduce((sum, flag) => sum + flag, 0)
  const sizes =
    inputs.kind === "ns3" ? [...inputs.ns3.flows.sizeBytes] : inputs.scenario.flows.map(({ bytes }) => bytes)
  return {
    controller:
      inputs.kind === "ns3"
        ? (inputs.ns3.controller?.name ?? ccModes[inputs.ns3.config.ccMode])
        : inputs.scenario.network.controller.name,
    hosts: graph.nodes - switches,
    switches,
    links: graph.links.length,
    flows: sizes.length,
    flowBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
  }
}
