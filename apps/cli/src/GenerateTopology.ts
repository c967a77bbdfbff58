import { formatTopology, Ns3FormatError, parseTopology } from "@rdmakit/ns3"
import { generateTopology, ns3TopologyOf } from "@rdmakit/scenario"
import { Effect, Option } from "effect"
import { Refused } from "./Exit.ts"
import { withJsonFaults } from "./Faults.ts"
import { counted } from "./Figures.ts"
import { FlagFields, givenFlags } from "./FlagFields.ts"
import { topologyFlags } from "./generateFlags.ts"
import { checkOutputFile, writeOutputFile } from "./OutputFile.ts"
import { print, tell, WorkingDirectory } from "./Screen.ts"

export interface GenerateTopologyInput {
  readonly builder: string
  readonly values: Readonly<Record<string, Option.Option<string>>>
  readonly out: Option.Option<string>
  readonly force: boolean
  readonly json: boolean
}

const builderFlag = { name: "BUILDER", path: ["builder"] }

/** Builds a network by name and writes its topology file. */
export const generateTopologyFile = (input: GenerateTopologyInput) =>
  Effect.gen(function* () {
    const { out, force, json } = input
    const output = { out, force, inputs: [] }
    yield* checkOutputFile(output)
    const builder = { flag: builderFlag, text: input.builder, value: input.builder }
    const source = new FlagFields(
      "topology",
      [builderFlag, ...topologyFlags],
      [builder, ...givenFlags(topologyFlags, input.values)],
    )
    const graph = yield* generateTopology(source, { workingDirectory: yield* WorkingDirectory, folders: ["."] })
    const topology = ns3TopologyOf(graph)
    const text = formatTopology(topology)
    yield* readable(() => parseTopology(text, "the topology"))
    const switches = topology.switches.length
    const figures = { hosts: graph.nodes - switches, switches, links: graph.links.length }
    const summary = { builder: input.builder, ...figures, file: Option.getOrNull(out) }
    const sentence = `${counted(figures.hosts, "host")}, ${counted(switches, "switch", "switches")}, ${counted(figures.links, "link")}`
    if (Option.isNone(out) && json) return yield* print(JSON.stringify({ ...summary, text }))
    yield* writeOutputFile([text], output)
    if (Option.isNone(out)) yield* tell(sentence)
    else yield* print(json ? JSON.stringify(summary) : `${sentence} in ${out.value}`)
  }).pipe(withJsonFaults(input.json, "command line"))

/** The simulator has limits that networks here do not: what it could not read is not written. */
export const readable = <A>(read: () => A): Effect.Effect<A, Refused> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      if (!(error instanceof Ns3FormatError)) throw error
      const message = `no file of the simulator can hold this: ${error.field}: expected ${error.expected}`
      return Effect.fail(new Refused({ message }))
    }
  })
