/** The section of a scenario that says what its hosts send. */
import type { FlowInput } from "@rdmakit/fabric"
import { Ns3FormatError, nearestWord, parseFlows } from "@rdmakit/ns3"
import { type Graph, hostsOf, type Routes } from "@rdmakit/topology"
import { hash32 } from "@rdmakit/units"
import { CdfError, parseCdf, SizeDistribution, STEP_FLOWS, WorkloadError } from "@rdmakit/workload"
import { Effect, type FileSystem, type Path, Schema, SchemaIssue, SchemaParser } from "effect"
import { type FlowRoom, tooManyAtOnce } from "./FlowMemory.ts"
import { asNote, type InputNote, warningAt } from "./InputsRefused.ts"
import { checkFlows } from "./Ns3Checks.ts"
import { attempt, type FieldPath, type FieldSource, hasFile, sectionOf } from "./ScenarioDocument.ts"
import { countOf, entryFault, FLOWS_MAX, filedFlows, listedFlows, nodeFault } from "./ScenarioFlows.ts"
import { Flow, FlowFile, type ScenarioFlow } from "./ScenarioSchema.ts"
import {
  fieldOfOption,
  ratesOf,
  sizesOf,
  type WorkloadBase,
  type WorkloadChoice,
  workloads,
} from "./ScenarioWorkloads.ts"
import type { OpenFile } from "./TopologySection.ts"

type FlowEntry = ScenarioFlow | WorkloadBase

const isWorkload = (entry: unknown): entry is WorkloadBase =>
  typeof entry === "object" && entry !== null && !Array.isArray(entry) && "workload" in entry

/** One entry of the list: flows between hosts that are named, or a workload with the options of its name. */
export const workloadEntry = Schema.declareConstructor<FlowEntry, unknown>()([], () => (value, _ast, options) => {
  const decode = (schema: Schema.Codec<FlowEntry, unknown>) => SchemaParser.decodeUnknownEffect(schema)(value, options)
  if (!isWorkload(value)) return decode(Flow)
  const { workload } = value
  if (typeof workload === "string" && Object.hasOwn(workloads, workload)) return decode(workloads[workload]!.schema)
  const known = Object.keys(workloads)
  const near = nearestWord(String(workload), known)
  const message = near === undefined ? undefined : `did you mean ${near}?`
  const issue = new SchemaIssue.InvalidValue({ expected: known.join(", "), message })
  return Effect.fail(new SchemaIssue.Pointer(["workload"], issue))
})

/** What a workload is made for. */
export interface WorkloadPlace {
  readonly document: FieldSource
  readonly graph: Graph
  /** Of which hosts can send to which. */
  readonly routes: Pick<Routes, "reachable">
  readonly seed: number
  readonly open: OpenFile
  /** Most flows that there is room for, and what is said of more. Default: those that a workload may have. */
  readonly tooMany?: { readonly flowsMax: number; readonly fault: Ns3FormatError }
}

/** What the flows are made for. */
export interface FlowContext extends WorkloadPlace {
  readonly routes: Routes
  /** Where the topology comes from, for messages. */
  readonly file: string
  readonly room: FlowRoom
}

export interface LoadedFlows {
  readonly flows: ReadonlyArray<FlowInput>
  readonly faults: ReadonlyArray<Ns3FormatError>
  readonly notes: ReadonlyArray<InputNote>
}

export interface FlowShape {
  readonly schema: Schema.Codec<unknown, unknown>
  readonly load: (
    section: unknown,
    context: FlowContext,
  ) => Effect.Effect<LoadedFlows, Ns3FormatError, FileSystem.FileSystem | Path.Path>
}

/** Which of the ways to give flows the document takes: a file, one workload, or a list of flows and workloads. */
export const flowShape = (document: FieldSource): FlowShape => {
  const section = sectionOf(document, "flows")
  if (hasFile(section)) {
    return {
      schema: FlowFile as Schema.Codec<unknown, unknown>,
      load: (read, context) => filed((read as { readonly file: string }).file, context),
    }
  }
  if (isWorkload(section)) {
    return {
      schema: workloadEntry as Schema.Codec<unknown, unknown>,
      load: (read, context) => entries([{ entry: read as FlowEntry, at: ["flows"] }], context),
    }
  }
  return {
    schema: Schema.Array(workloadEntry) as Schema.Codec<unknown, unknown>,
    load: (read, context) => {
      const list = read as ReadonlyArray<FlowEntry>
      return entries(
        list.map((entry, i) => ({ entry, at: ["flows", i] })),
        context,
      )
    },
  }
}

const filed = Effect.fnUntraced(function* (name: string, { open, graph, routes, file }: FlowContext) {
  const found = yield* open(["flows", "file"], name)
  const switches = [...graph.isSwitch.keys()].filter((node) => graph.isSwitch[node] === 1)
  const parsed = yield* attempt(() => parseFlows(found.octets, found.name, { nodes: graph.nodes, switches }))
  const unreachable = checkFlows(parsed, found.name, file, routes)
  return {
    flows: filedFlows(parsed),
    faults: unreachable === undefined ? [] : [unreachable],
    notes: parsed.notes.map(asNote),
  }
})

interface PlacedEntry {
  readonly entry: FlowEntry
  readonly at: FieldPath
}

const entries = Effect.fnUntraced(function* (list: ReadonlyArray<PlacedEntry>, context: FlowContext) {
  const flows: Array<FlowInput> = []
  const faults: Array<Ns3FormatError> = []
  const notes: Array<InputNote> = []
  const flowsMax = flowsIn(context)
  for (const [index, { entry, at }] of list.entries()) {
    const made = yield* Effect.result(
      isWorkload(entry)
        ? generated(entry, at, index, flowsMax - flows.length, context)
        : listed(entry, at, flowsMax - flows.length, context),
    )
    if (made._tag === "Success" && made.success.length === 0)
      notes.push(warningAt(at, "no flow is drawn: a longer duration or a higher load has some", context.document))
    if (made._tag === "Failure") faults.push(made.failure)
    else if (flows.length + made.success.length > flowsMax) faults.push(tooMany(at, context))
    else {
      const workload = workloadName(entry, at, list)
      for (const flow of made.success) flows.push(workload === undefined ? flow : { ...flow, workload })
    }
    if (made._tag === "Success" && made.success.length >= STEP_FLOWS) yield* Effect.yieldNow
  }
  return { flows, faults, notes }
})

/**
 * What results call the flows of an entry, where the scenario has several: a workload by its place and its kind, those
 * that are written one by one all alike.
 */
const workloadName = (entry: FlowEntry, at: FieldPath, list: ReadonlyArray<PlacedEntry>): string | undefined => {
  if (!list.some((each) => isWorkload(each.entry)) || list.length === 1) return undefined
  return isWorkload(entry) ? `flows[${at.at(-1)}] ${entry.workload}` : "listed"
}

const flowsIn = ({ room }: FlowContext): number => Math.min(FLOWS_MAX, room.inAll)

const tooMany = (at: FieldPath, context: FlowContext): Ns3FormatError =>
  context.document.fault(at, {
    expected: `at most ${flowsIn(context)} flows in all`,
    hint: context.room.inAll < FLOWS_MAX ? "the process has no memory for more" : undefined,
  })

const listed = (entry: ScenarioFlow, at: FieldPath, countMax: number, context: FlowContext) =>
  Effect.suspend(() => {
    const { graph, routes, document } = context
    const fault = entryFault(entry, at, graph, routes, document)
    if (fault !== undefined) return Effect.fail(fault)
    // All of an entry begin at once: before there are so many of them.
    const atOnce = tooManyAtOnce(countOf(entry), context.room)
    if (atOnce !== undefined) return Effect.fail(document.fault(at, atOnce))
    return countOf(entry) > countMax ? Effect.fail(tooMany(at, context)) : Effect.succeed(listedFlows(entry))
  })

const generated = (entry: WorkloadBase, at: FieldPath, index: number, flowsMax: number, context: FlowContext) =>
  Effect.map(
    workloadFlows(entry, at, index, { ...context, tooMany: { flowsMax, fault: tooMany(at, context) } }),
    (flows) =>
      flows.map(({ sizeBytes, startPs, ...flow }): FlowInput => ({ ...flow, size: sizeBytes, start: startPs })),
  )

/** A salt of the seeds of workloads after the first. */
const SEED_SALT = 0x776f726b

/** The flows of one workload. */
export const workloadFlows = Effect.fnUntraced(function* (
  entry: WorkloadBase,
  at: FieldPath,
  index: number,
  { document, graph, routes, seed: seedOfAll, open, tooMany }: WorkloadPlace,
) {
  const hosts = entry.hosts ?? [...hostsOf(graph)]
  for (const [key, nodes] of Object.entries(namedNodes(entry))) {
    const fault = nodeFault(nodes, [...at, key], graph, document)
    if (fault !== undefined) return yield* Effect.fail(fault)
  }
  const sizes = sizesOf(entry) ?? (yield* filedSizes(entry, at, document, open))
  const { start: startPs = 0, priority = 3 } = entry
  const seed = entry.seed ?? (index === 0 ? seedOfAll : hash32(seedOfAll, SEED_SALT, index))
  const choice = workloads[String(entry.workload)]!
  const context = { graph, hosts, rateBps: ratesOf(graph), sizes, startPs, priority, seed }
  const flows = yield* steppedThrough(
    () => choice.generate(entry, context),
    (error) => faultOf(error, at, entry, document),
    tooMany,
  )
  const lost = flows.find(({ source, destination }) => !routes.reachable(source, destination))
  if (lost !== undefined) {
    const hint = `no path of links and switches leads from ${lost.source} to ${lost.destination}`
    return yield* Effect.fail(document.fault(at, { found: "", expected: "hosts that can reach each other", hint }))
  }
  return flows
})

/** Makes flows step by step: signals are heard in between. */
const steppedThrough = Effect.fnUntraced(function* (
  make: () => ReturnType<WorkloadChoice["generate"]>,
  faultOf: (error: WorkloadError) => Ns3FormatError,
  tooMany: WorkloadPlace["tooMany"],
) {
  const tried = <A>(step: () => A) =>
    attempt(() => {
      try {
        return step()
      } catch (error) {
        throw error instanceof WorkloadError ? faultOf(error) : error
      }
    })
  const made = yield* tried(make)
  if (!("next" in made)) return made
  for (;;) {
    const step = yield* tried(() => made.next())
    if (step.done === true) return step.value
    if (tooMany !== undefined && step.value > tooMany.flowsMax) return yield* Effect.fail(tooMany.fault)
    yield* Effect.yieldNow
  }
})

/** The fields of an entry that name nodes. */
const namedNodes = (entry: WorkloadBase): Readonly<Record<string, ReadonlyArray<number>>> => {
  const { senders, receiver } = entry as { readonly senders?: ReadonlyArray<number>; readonly receiver?: number }
  return {
    ...(entry.hosts === undefined ? {} : { hosts: entry.hosts }),
    ...(senders === undefined ? {} : { senders }),
    ...(receiver === undefined ? {} : { receiver: [receiver] }),
  }
}

/** A workload's complaint, at the field that it is about. */
const faultOf = (error: WorkloadError, at: FieldPath, entry: WorkloadBase, document: FieldSource): Ns3FormatError => {
  const key = fieldOfOption[error.option] ?? error.option
  const written = Object.hasOwn(entry, key)
  const { expected, hint } = error
  // What the field says is shown as written, a time too; what follows from it, or from its absence, by number.
  const asWritten = fieldOfOption[error.option] === undefined || error.option.endsWith("Ps")
  const found = written && asWritten ? {} : { found: error.found }
  return document.fault(written ? [...at, key] : at, { ...found, expected, hint })
}

const filedSizes = Effect.fnUntraced(function* (
  entry: WorkloadBase,
  at: FieldPath,
  document: FieldSource,
  open: OpenFile,
) {
  if (entry.size !== undefined && entry.sizes !== undefined) {
    const hint = "size is of every flow, sizes are a distribution"
    return yield* Effect.fail(document.fault([...at, "size"], { expected: "either size or sizes", hint }))
  }
  if (entry.sizes === undefined) {
    return yield* Effect.fail(document.fault([...at, "size"], { expected: "this field, or sizes" }, "parent"))
  }
  const found = yield* open([...at, "sizes"], (entry.sizes as { readonly file: string }).file)
  return yield* attempt(() => {
    try {
      return new SizeDistribution(parseCdf(found.octets, found.name))
    } catch (error) {
      if (!(error instanceof CdfError)) throw error
      const { file, line, column, field, found: word, expected, hint } = error
      throw new Ns3FormatError({ file, line, column, field, found: word, expected, hint })
    }
  })
})
