/** The section of a scenario that says which network it is on. */
import { type Ns3FormatError, type Ns3Note, nearestWord, parseTopology, switchFlags } from "@rdmakit/ns3"
import { type Graph, LINKS_MAX, NODES_MAX, networkTooLarge, TopologyError } from "@rdmakit/topology"
import { Effect, type FileSystem, type Path, type Schema } from "effect"
import type { InputFile } from "./InputFile.ts"
import { attempt, type FieldPath, type FieldSource, hasFile, sectionOf } from "./ScenarioDocument.ts"
import { builders, ExplicitTopology, listedGraph, TopologyFile } from "./ScenarioTopologies.ts"

/** Reads a file that a field names. */
export type OpenFile = (
  at: FieldPath,
  name: string,
) => Effect.Effect<InputFile, Ns3FormatError, FileSystem.FileSystem | Path.Path>

export interface LoadedGraph {
  readonly graph: Graph
  readonly noted: ReadonlyArray<Ns3Note>
}

export interface TopologyShape {
  readonly schema: Schema.Codec<unknown, unknown>
  readonly load: (
    section: unknown,
    open: OpenFile,
  ) => Effect.Effect<LoadedGraph, Ns3FormatError, FileSystem.FileSystem | Path.Path>
}

const ways = ["builder", "file", "nodes", "switches", "links"]

/** A section with keys of which none says how the topology is given. @throws Ns3FormatError */
const checkKeys = (document: FieldSource, section: unknown): void => {
  if (typeof section !== "object" || section === null || Array.isArray(section)) return
  const keys = Object.keys(section)
  if (keys.length === 0 || keys.some((key) => ways.includes(key))) return
  const near = keys.map((key) => nearestWord(key, ways)).find((way) => way !== undefined)
  const hint = near === undefined ? undefined : `did you mean ${near}?`
  throw document.fault(["topology"], { expected: "builder, file, or nodes, switches and links", hint })
}

/**
 * Which of the ways to give a topology the document takes: a builder's name, a file, or nodes and links.
 *
 * @throws Ns3FormatError for a builder that does not exist
 */
export const topologyShape = (document: FieldSource): TopologyShape => {
  const section = sectionOf(document, "topology")
  if (hasFile(section)) {
    return {
      schema: TopologyFile as Schema.Codec<unknown, unknown>,
      load: (read, open) =>
        Effect.gen(function* () {
          const found = yield* open(["topology", "file"], (read as { readonly file: string }).file)
          const topology = yield* attempt(() => parseTopology(found.octets, found.name))
          const graph = { nodes: topology.nodes, isSwitch: switchFlags(topology), links: topology.links }
          const hint = networkTooLarge(graph)
          if (hint !== undefined)
            return yield* Effect.fail(document.fault(["topology", "file"], { expected: "a smaller network", hint }))
          return { graph, noted: topology.notes }
        }),
    }
  }
  const builder = (section as { readonly builder?: unknown } | undefined | null)?.builder
  if (builder === undefined) {
    checkKeys(document, section)
    return {
      schema: ExplicitTopology as Schema.Codec<unknown, unknown>,
      load: (read) => built(document, () => listedGraph(read as ExplicitTopology, document)),
    }
  }
  const choice = typeof builder === "string" && Object.hasOwn(builders, builder) ? builders[builder] : undefined
  if (choice === undefined) {
    const known = Object.keys(builders)
    const near = nearestWord(String(builder), known)
    const hint = near === undefined ? undefined : `did you mean ${near}?`
    throw document.fault(["topology", "builder"], { expected: known.join(", "), hint })
  }
  return {
    schema: choice.schema,
    load: (read) =>
      built(document, () => {
        const { nodes, links } = choice.extent(read)
        if (nodes > NODES_MAX || links > LINKS_MAX) {
          const hint = `this is ${nodes} nodes and ${links} links`
          const expected = nodes > NODES_MAX ? `at most ${NODES_MAX} nodes` : `at most ${LINKS_MAX} links`
          throw document.fault(["topology"], { found: String(builder), expected, hint })
        }
        return choice.build(read)
      }),
  }
}

const built = (document: FieldSource, build: () => Graph): Effect.Effect<LoadedGraph, Ns3FormatError> =>
  attempt(() => {
    try {
      const graph = build()
      const hint = networkTooLarge(graph)
      if (hint !== undefined)
        throw document.fault(["topology"], { found: `${graph.nodes} nodes`, expected: "a smaller network", hint })
      return { graph, noted: [] }
    } catch (error) {
      if (!(error instanceof TopologyError)) throw error
      const at: FieldPath = error.link === undefined ? ["topology"] : ["topology", "links", error.link]
      throw document.fault(at, { expected: "a network that can be built", hint: error.message })
    }
  })
