import { type Flow, flowsOf, type NativeOptions, nativeTransport, sharedBufferSwitches } from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { ControllerFactory } from "@rdmakit/protocol"
import { type Graph, Ports, Routes } from "@rdmakit/topology"
import { Effect, type FileSystem, Path } from "effect"
import { controllers, type NamedController } from "./Controllers.ts"
import { deadlockWarnings } from "./DeadlockWarning.ts"
import { faultsOf } from "./FaultSection.ts"
import { flowRoom, mostAtOnce, tooManyAtOnce } from "./FlowMemory.ts"
import { flowShape } from "./FlowSection.ts"
import { type InputFile, type Mention, readInput, type SearchPath, searchPathOf } from "./InputFile.ts"
import { asNote, type InputNote, InputsRefused } from "./InputsRefused.ts"
import { lossesOf } from "./LossSection.ts"
import { networkParts } from "./NetworkParts.ts"
import { attempt, decode, ScenarioDocument } from "./ScenarioDocument.ts"
import { scenarioSchema } from "./ScenarioSchema.ts"
import { admissionModel, watchdogSettings } from "./ScenarioSettings.ts"
import { delayNotes, longestWay, timeoutNotes } from "./SlowPathChecks.ts"
import { type OpenFile, topologyShape } from "./TopologySection.ts"

/** A scenario, read and checked, with everything it names. */
export interface ScenarioInputs {
  /** The file as it was named. */
  readonly name: string
  /** What the scenario calls itself, or the file's name. */
  readonly title: string
  readonly graph: Graph
  /** By start. */
  readonly flows: ReadonlyArray<Flow>
  /** What the network is put together from. */
  readonly network: NativeOptions
  readonly seed: number
  /** ps; NEVER: the run goes on until nothing is left to do. */
  readonly stopPs: number
  readonly notes: ReadonlyArray<InputNote>
}

export interface ScenarioOptions {
  /** Relative paths start here; absolute. */
  readonly workingDirectory: string
  /** `path=value`, such as `switch.buffer=16MiB`, in the order in which they apply. */
  readonly overrides?: ReadonlyArray<string>
  /** The scenario, when it is in no file: its name is then only for messages. */
  readonly octets?: Uint8Array
  /** The controllers it can name. Default `controllers`. */
  readonly controllers?: ReadonlyMap<string, NamedController>
  /** In place of the controller that it names. */
  readonly controller?: ControllerFactory | undefined
  /** What the process may use: more flows than that has room for are refused. Default: as much as there are. */
  readonly memoryBytes?: number
}

/** Whether a file is a scenario by its name, rather than a config of the HPCC simulator. */
export const isScenarioName = (name: string): boolean => /\.(ya?ml|json)$/i.test(name)

/** What a scenario begins with: its first key, or the brace of JSON. */
const scenarioStart = /^(?:\{|["']?[A-Za-z]\w*["']?\s*:)/
/** Octets that are looked at for it. */
const START_OCTETS = 4096

/** Whether octets without a name are a scenario, by how they begin, rather than a config of the HPCC simulator. */
export const isScenarioText = (octets: Uint8Array): boolean => {
  const lines = new TextDecoder().decode(octets.subarray(0, START_OCTETS)).split("\n")
  const first = lines.map((line) => line.trim()).find((line) => line !== "" && line !== "---" && !line.startsWith("#"))
  return first !== undefined && scenarioStart.test(first)
}

/**
 * Reads a scenario, YAML or JSON, and the files it names, and checks that it can be run. Paths are looked for in the
 * working directory, then in the scenario's folder, then in that folder's parent. Fails with every fault found.
 */
export const loadScenario = (
  scenario: string,
  options: ScenarioOptions,
): Effect.Effect<ScenarioInputs, InputsRefused, FileSystem.FileSystem | Path.Path> =>
  load(scenario, options).pipe(Effect.mapError((error) => (error instanceof InputsRefused ? error : refusal([error]))))

/** The parser, when it is needed. In a bundle, what is CommonJS comes as the default export alone. */
const loadYaml = Effect.promise(async () => {
  const module = await import("yaml")
  return "default" in module ? (module.default as typeof module) : module
})

const load = Effect.fnUntraced(function* (scenario: string, options: ScenarioOptions) {
  const path = yield* Path.Path
  const here: SearchPath = { workingDirectory: options.workingDirectory, folders: ["."] }
  const mention: Mention = { file: scenario, line: 0, column: 0, field: "scenario" }
  const file: InputFile =
    options.octets === undefined
      ? yield* readInput(scenario, here, mention)
      : { name: scenario, octets: options.octets }
  const search = options.octets === undefined ? searchPathOf(path, options.workingDirectory, scenario) : here
  const yaml = yield* loadYaml
  const document = yield* attempt(() => new ScenarioDocument(yaml, file.octets, file.name, options.overrides ?? []))
  const shape = yield* attempt(() => topologyShape(document))
  const flowsShape = flowShape(document)
  const read = decode(scenarioSchema(shape.schema, flowsShape.schema), document)
  if (Array.isArray(read)) return yield* Effect.fail(refusal(read))
  const decoded = read as Exclude<typeof read, ReadonlyArray<unknown>>

  const faults: Array<Ns3FormatError> = []
  const notes: Array<InputNote> = []
  const open: OpenFile = (at, name) => {
    const { line, column, field, file: place } = document.fault(at, { expected: "" })
    return readInput(name, search, { file: place, line, column, field })
  }
  const { graph, noted: graphNotes } = yield* shape.load(decoded.topology, open)
  notes.push(...graphNotes.map(asNote))
  const ports = new Ports(graph)
  const routes = new Routes(graph, ports)

  const { controllers: registry = controllers, controller: own } = options
  const parts = networkParts(decoded, { graph, ports, routes, document, registry, own })
  const { controller, carrier, transport, switches, discipline } = parts
  faults.push(...parts.faults)
  notes.push(...parts.notes)
  const losses = lossesOf(decoded.losses ?? [], graph, ports, document)
  const seed = decoded.seed ?? 0
  const faultContext = { graph, ports, seed, lossless: switches.lossless !== false }
  const linkFaults = faultsOf(decoded.faults ?? [], faultContext, document)
  faults.push(...losses.faults, ...linkFaults.faults)
  notes.push(...losses.notes, ...linkFaults.notes)

  const admission = decoded.admission === undefined ? undefined : admissionModel(decoded.admission)
  if (decoded.admission !== undefined && admission === undefined) {
    const expected = "flowsPerReceiver, flowsPerSender or creditPerReceiver"
    faults.push(document.fault(["admission"], { expected }))
  }
  const watchdog = watchdogSettings(decoded.switch ?? {})
  const room = flowRoom(options.memoryBytes ?? Number.POSITIVE_INFINITY, carrier?.named.flowBytes)
  const context = { document, file: file.name, graph, routes, seed, open, room }
  const { flows, notes: flowNotes, faults: flowFaults } = yield* flowsShape.load(decoded.flows, context)
  notes.push(...flowNotes)
  faults.push(...flowFaults)
  if (faults.length > 0 || controller === undefined) return yield* Effect.fail(refusal(faults, notes))
  const checked = flowsOf(flows, graph)
  yield* Effect.yieldNow
  const atOnce = tooManyAtOnce(mostAtOnce(startsOf(checked)), room)
  if (atOnce !== undefined) return yield* Effect.fail(refusal([document.fault(["flows"], atOnce)], notes))
  if (switches.lossless !== false) {
    const place = document.fault(["topology"], { expected: "" })
    notes.push(...deadlockWarnings({ graph, ports, routes }, checked, place))
  }
  if (carrier === undefined && own === undefined) {
    const connection = nativeTransport(transport, controller, Math.max(1, routes.maxHops))
    const way = longestWay({ routes, ports }, checked, connection)
    if (way !== undefined)
      notes.push(...delayNotes(controller, way, document), ...timeoutNotes(decoded.transport ?? {}, way, document))
  }

  const network: NativeOptions = {
    graph,
    controller,
    seed,
    switches: sharedBufferSwitches(switches),
    ...(discipline === undefined ? {} : { discipline }),
    transport,
    ...(carrier === undefined ? {} : { makeTransport: carrier.make }),
    ...(losses.byPort.size === 0 ? {} : { losses: losses.byPort }),
    ...(linkFaults.events.length === 0 ? {} : { faults: linkFaults.events }),
    ...(decoded.convergence === undefined ? {} : { convergencePs: decoded.convergence }),
    ...(admission === undefined ? {} : { admission }),
    ...(watchdog === undefined ? {} : { watchdog }),
  }
  return {
    name: scenario,
    title: decoded.name ?? file.name,
    graph,
    flows: checked,
    network,
    seed,
    stopPs: decoded.stop ?? Number.POSITIVE_INFINITY,
    notes,
  } satisfies ScenarioInputs
})

function* startsOf(flows: ReadonlyArray<Flow>): Generator<number> {
  for (const { start } of flows) yield start
}

const refusal = (faults: ReadonlyArray<Ns3FormatError>, notes: ReadonlyArray<InputNote> = []): InputsRefused =>
  new InputsRefused({ faults, notes })
