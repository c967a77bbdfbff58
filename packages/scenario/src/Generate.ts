/** Networks and flows by name, outside a scenario: what `rdmakit generate` writes to files. */
import { Ns3FormatError } from "@rdmakit/ns3"
import { type Graph, Ports, Routes } from "@rdmakit/topology"
import type { WorkloadFlow } from "@rdmakit/workload"
import { Effect, type FileSystem, type Path, Schema } from "effect"
import { workloadEntry, workloadFlows } from "./FlowSection.ts"
import { readInput, type SearchPath } from "./InputFile.ts"
import { InputsRefused } from "./InputsRefused.ts"
import { attempt, decode, type FieldSource } from "./ScenarioDocument.ts"
import type { WorkloadBase } from "./ScenarioWorkloads.ts"
import { type OpenFile, topologyShape } from "./TopologySection.ts"

const refusal = (fault: Ns3FormatError): InputsRefused => new InputsRefused({ faults: [fault], notes: [] })

const decoded = <A>(schema: Schema.Codec<A, unknown>, source: FieldSource): Effect.Effect<A, InputsRefused> =>
  Effect.suspend(() => {
    const read = decode(schema, source)
    return isFaults(read) ? Effect.fail(new InputsRefused({ faults: read, notes: [] })) : Effect.succeed(read)
  })

const isFaults = (read: unknown): read is ReadonlyArray<Ns3FormatError> =>
  Array.isArray(read) && read[0] instanceof Ns3FormatError

const openFrom =
  (source: FieldSource, search: SearchPath): OpenFile =>
  (at, name) => {
    const { file, line, column, field } = source.fault(at, { expected: "" })
    return readInput(name, search, { file, line, column, field })
  }

/** The network of a source's section `topology`, as a scenario's. */
export const generateTopology = (
  source: FieldSource,
  search: SearchPath,
): Effect.Effect<Graph, InputsRefused, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const shape = yield* Effect.mapError(
      attempt(() => topologyShape(source)),
      refusal,
    )
    const { topology } = yield* decoded(Schema.Struct({ topology: shape.schema }), source)
    const { graph } = yield* Effect.mapError(shape.load(topology, openFrom(source, search)), refusal)
    return graph
  })

export interface GenerateFlowsOptions {
  readonly graph: Graph
  /** Whether every host can reach every other: then nothing is looked up. Default false. */
  readonly connected?: boolean
  /** Of a workload that names none. */
  readonly seed: number
  readonly search: SearchPath
}

/** The flows of the workload in a source's section `flows`, as a scenario's. */
export const generateFlows = (
  source: FieldSource,
  { graph, connected = false, seed, search }: GenerateFlowsOptions,
): Effect.Effect<ReadonlyArray<WorkloadFlow>, InputsRefused, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const { flows } = yield* decoded(Schema.Struct({ flows: workloadEntry }), source)
    const routes = connected ? { reachable: () => true } : new Routes(graph, new Ports(graph))
    const place = { document: source, graph, routes, seed, open: openFrom(source, search) }
    return yield* Effect.mapError(workloadFlows(flows as WorkloadBase, ["flows"], 0, place), refusal)
  })
