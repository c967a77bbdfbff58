import { type Graph, Ports } from "@rdmakit/topology"
import { formatRate } from "@rdmakit/units"
import { Effect } from "effect"
import type { ControllerInput } from "./ControllerModule.ts"
import { foldIdleKeys, showNotes, withJsonFaults } from "./Faults.ts"
import { counted, quantity } from "./Figures.ts"
import { figuresOf, graphOf, loadInputs, nameOf, notesOf } from "./Inputs.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen } from "./Screen.ts"

export interface LintInput extends ControllerInput {
  readonly file: string
  readonly set: ReadonlyArray<string>
  /** Name each key without effect. */
  readonly all: boolean
  /** List every port. */
  readonly ports: boolean
  readonly json: boolean
}

/** Every port of a network, by node. */
const portsOf = (graph: Graph) =>
  Effect.map(
    Effect.promise(() => import("@rdmakit/scenario/capture")),
    ({ portName, portWords }) => {
      const ports = new Ports(graph)
      const all = Array.from({ length: graph.nodes }, (_, node) => [...ports.portsOf(node)]).flat()
      return all.map((port) => ({
        port: portName(port, ports),
        words: portWords(port, ports, graph),
        rateBps: ports.rateBps[port]!,
      }))
    },
  )

/** Checks inputs and says what is noteworthy about them. */
export const lint = (input: LintInput) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    const inputs = yield* loadInputs({ file: input.file, set: input.set, controller: input })
    const name = nameOf(inputs)
    const notes = notesOf(inputs)
    const ports = input.ports ? yield* portsOf(graphOf(inputs)) : undefined
    if (input.json) {
      const more = ports === undefined ? {} : { ports }
      return yield* print(JSON.stringify({ file: name, ok: true, ...figuresOf(inputs), notes, ...more }))
    }
    for (const { port, words, rateBps } of ports ?? []) yield* print(`${port}  ${words}, ${formatRate(rateBps)}`)
    yield* showNotes(input.all ? notes : foldIdleKeys(notes), out)
    const { flows, flowBytes, hosts, switches, controller } = figuresOf(inputs)
    const shape = `${counted(hosts, "host")}, ${counted(switches, "switch", "switches")}, ${counted(flows, "flow")} of ${quantity(flowBytes, "B")}`
    const warnings = notes.filter(({ kind }) => kind === "warning").length
    const remarks = `${counted(warnings, "warning")}, ${counted(notes.length - warnings, "note")}`
    yield* print(`${paintOf(out).green("ok")} ${name}: ${controller}, ${shape}; ${remarks}`)
  }).pipe(withJsonFaults(input.json, input.file))
