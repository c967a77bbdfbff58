import {
  bufferDemand,
  type Flow,
  flowsOf,
  type NativeOptions,
  nativeTransport,
  type SwitchSettings,
  sharedBufferSwitches,
  type TransportSettings,
} from "@rdmakit/fabric"
import { type Ns3FormatError, type Ns3Note, nearestWord, parseFlows, parseTopology, switchFlags } from "@rdmakit/ns3"
import { type Graph, Ports, Routes, TopologyError } from "@rdmakit/topology"
import { formatSize } from "@rdmakit/units"
import { Effect, type FileSystem, Path, type Schema } from "effect"
import { controllers, type NamedController } from "./Controllers.ts"
import { type InputFile, type Mention, readInput, type SearchPath, searchPathOf } from "./InputFile.ts"
import { type InputNote, InputsRefused } from "./InputsRefused.ts"
import { checkFlows } from "./Ns3Checks.ts"
import { controllerOf } from "./ScenarioControllers.ts"
import { attempt, decode, type FieldPath, ScenarioDocument } from "./ScenarioDocument.ts"
import { NODE_MAX } from "./ScenarioFields.ts"
import { filedFlows, listedFlows } from "./ScenarioFlows.ts"
import { FlowFile, FlowList, type ScenarioFlow, type ScenarioLoss, scenarioSchema } from "./ScenarioSchema.ts"
import { switchSettings, transportSettings } from "./ScenarioSettings.ts"
import { builders, type ExplicitTopology, explicitGraph, explicitTopology, TopologyFile } from "./ScenarioTopologies.ts"

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
}

/** Whether a file is a scenario by its name, rather than a config of the HPCC simulator. */
export const isScenarioName = (name: string): boolean => /\.(ya?ml|json)$/i.test(name)

/** Memory of the routes: nodes times hosts. */
const ROUTES_MAX = 2.5e8
const LINKS_MAX = 2 ** 21

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
  const flowShape = hasFile(sectionOf(document, "flows")) ? FlowFile : FlowList
  const read = decode(scenarioSchema(shape.schema, flowShape as Schema.Codec<unknown, unknown>), document)
  if (Array.isArray(read)) return yield* Effect.fail(refusal(read))
  const decoded = read as Exclude<typeof read, ReadonlyArray<unknown>>

  const faults: Array<Ns3FormatError> = []
  const notes: Array<InputNote> = []
  const open = (at: FieldPath, name: string) => {
    const { line, column, field, file: place } = document.fault(at, { expected: "" })
    return readInput(name, search, { file: place, line, column, field })
  }
  const graph = yield* Effect.flatMap(shape.load(decoded.topology, open), ({ graph, noted }) =>
    Effect.sync(() => {
      notes.push(...noted.map((note): InputNote => ({ ...note, kind: "note" })))
      return graph
    }),
  )
  const ports = new Ports(graph)
  const routes = new Routes(graph, ports)

  const controller = controllerOf(decoded.controller, options.controllers ?? controllers, document)
  if (isFaults(controller)) faults.push(...controller)
  const switches: SwitchSettings = switchSettings(decoded.switch ?? {})
  for (const [i, rule] of (decoded.switch?.ecnRules ?? []).entries()) {
    if (rule.kmin > rule.kmax)
      faults.push(document.fault(["switch", "ecnRules", i, "kmin"], { expected: "at most kmax" }))
    if (!ports.rateBps.includes(rule.rate)) {
      faults.push(document.fault(["switch", "ecnRules", i, "rate"], { expected: "the rate of a link" }))
    }
  }
  const transport: TransportSettings = transportSettings(decoded.transport ?? {})
  if (!isFaults(controller)) {
    const demand = bufferDemand(
      graph,
      ports,
      switches,
      nativeTransport(transport, controller, Math.max(1, routes.maxHops)),
    )
    const bufferBytes = switches.bufferBytes ?? 32 * 1024 * 1024
    const neededBytes = demand === undefined ? 0 : demand.headroomBytes + demand.reserveBytes
    if (demand !== undefined && neededBytes > bufferBytes) {
      const expected = `at least ${formatSize(Math.ceil(neededBytes / 1024) * 1024)}`
      const hint = `switch ${demand.node} keeps ${demand.headroomBytes} bytes of headroom and ${demand.reserveBytes} of reserve aside`
      faults.push(document.fault(["switch", "buffer"], { found: formatSize(bufferBytes), expected, hint }))
    }
  }
  const losses = lossesOf(decoded.losses ?? [], graph, ports, document)
  faults.push(...losses.faults)

  const flows = yield* Effect.suspend(() => {
    if (Array.isArray(decoded.flows)) {
      const listed = listedFlows(decoded.flows as ReadonlyArray<ScenarioFlow>, graph, routes, document)
      faults.push(...listed.faults)
      return Effect.succeed(listed.flows)
    }
    return Effect.gen(function* () {
      const found = yield* open(["flows", "file"], (decoded.flows as { readonly file: string }).file)
      const switchIds = [...graph.isSwitch.keys()].filter((node) => graph.isSwitch[node] === 1)
      const parsed = yield* attempt(() =>
        parseFlows(found.octets, found.name, { nodes: graph.nodes, switches: switchIds }),
      )
      notes.push(...parsed.notes.map((note): InputNote => ({ ...note, kind: "note" })))
      const unreachable = checkFlows(parsed, found.name, file.name, routes)
      if (unreachable !== undefined) faults.push(unreachable)
      return filedFlows(parsed)
    })
  })
  if (faults.length > 0 || isFaults(controller)) return yield* Effect.fail(refusal(faults, notes))

  const seed = decoded.seed ?? 0
  const network: NativeOptions = {
    graph,
    controller,
    seed,
    switches: sharedBufferSwitches(switches),
    transport,
    ...(losses.byPort.size === 0 ? {} : { losses: losses.byPort }),
  }
  return {
    name: scenario,
    title: decoded.name ?? file.name,
    graph,
    flows: flowsOf(flows, graph),
    network,
    seed,
    stopPs: decoded.stop ?? Number.POSITIVE_INFINITY,
    notes,
  } satisfies ScenarioInputs
})

const refusal = (faults: ReadonlyArray<Ns3FormatError>, notes: ReadonlyArray<InputNote> = []): InputsRefused =>
  new InputsRefused({ faults, notes })

const isFaults = (value: unknown): value is ReadonlyArray<Ns3FormatError> => Array.isArray(value)

const sectionOf = (document: ScenarioDocument, key: string): unknown => {
  const { data } = document
  return typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>)[key] : undefined
}

const hasFile = (section: unknown): boolean =>
  typeof section === "object" && section !== null && !Array.isArray(section) && "file" in section

interface LoadedGraph {
  readonly graph: Graph
  readonly noted: ReadonlyArray<Ns3Note>
}

interface TopologyShape {
  readonly schema: Schema.Codec<unknown, unknown>
  readonly load: (
    section: unknown,
    open: (at: FieldPath, name: string) => Effect.Effect<InputFile, Ns3FormatError, FileSystem.FileSystem | Path.Path>,
  ) => Effect.Effect<LoadedGraph, Ns3FormatError, FileSystem.FileSystem | Path.Path>
}

/** Which of the ways to give a topology the document takes: a builder's name, a file, or nodes and links. */
const topologyShape = (document: ScenarioDocument): TopologyShape => {
  const section = sectionOf(document, "topology")
  if (hasFile(section)) {
    return {
      schema: TopologyFile as Schema.Codec<unknown, unknown>,
      load: (read, open) =>
        Effect.gen(function* () {
          const found = yield* open(["topology", "file"], (read as { readonly file: string }).file)
          const topology = yield* attempt(() => parseTopology(found.octets, found.name))
          const graph = { nodes: topology.nodes, isSwitch: switchFlags(topology), links: topology.links }
          return { graph, noted: topology.notes }
        }),
    }
  }
  const builder = (section as { readonly builder?: unknown } | undefined | null)?.builder
  if (builder === undefined) {
    return {
      schema: explicitTopology.schema as Schema.Codec<unknown, unknown>,
      load: (read) => built(document, () => explicitGraph(read as ExplicitTopology)),
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
        if (nodes > NODE_MAX + 1 || links > LINKS_MAX) {
          const hint = `this is ${nodes} nodes and ${links} links`
          throw document.fault(["topology"], { found: String(builder), expected: "at most 65536 nodes", hint })
        }
        return choice.build(read)
      }),
  }
}

const built = (document: ScenarioDocument, build: () => Graph): Effect.Effect<LoadedGraph, Ns3FormatError> =>
  attempt(() => {
    try {
      const graph = build()
      const hosts = graph.isSwitch.reduce((sum, flag) => sum + 1 - flag, 0)
      if (graph.nodes * hosts > ROUTES_MAX) {
        const hint = `this is ${graph.nodes} nodes and ${hosts} hosts`
        throw document.fault(["topology"], { found: "", expected: "a smaller network", hint })
      }
      return { graph, noted: [] }
    } catch (error) {
      if (!(error instanceof TopologyError)) throw error
      const at: FieldPath = error.link === undefined ? ["topology"] : ["topology", "links", error.link]
      throw document.fault(at, { expected: "a network that can be built", hint: error.message })
    }
  })

const lossesOf = (list: ReadonlyArray<ScenarioLoss>, graph: Graph, ports: Ports, document: ScenarioDocument) => {
  const byPort = new Map<number, Set<number>>()
  const faults: Array<Ns3FormatError> = []
  for (const [index, { from, to, link = 0, packets }] of list.entries()) {
    const own = from < graph.nodes ? [...ports.portsOf(from)].filter((port) => ports.peerNode(port) === to) : []
    const port = own[link]
    if (port === undefined) {
      const hint = `the topology has ${own.length === 0 ? "no link" : `only ${own.length}`} from ${from} to ${to}`
      faults.push(document.fault(["losses", index], { expected: "two nodes that a link joins", hint }))
      continue
    }
    const lost = byPort.get(port) ?? new Set()
    for (const ordinal of packets) lost.add(ordinal)
    byPort.set(port, lost)
  }
  return { byPort, faults }
}
