import {
  applyOverrides,
  type ConfigFile,
  linkDelayNs,
  type Ns3Config,
  type Ns3Flows,
  Ns3FormatError,
  type Ns3Note,
  type Ns3Topology,
  parseConfig,
  parseFlows,
  parseTopology,
  parseTraceList,
  switchFlags,
} from "@rdmakit/ns3"
import type { ControllerFactory } from "@rdmakit/protocol"
import { type Graph, networkTooLarge, Ports, Routes } from "@rdmakit/topology"
import { Effect, type FileSystem, Path } from "effect"
import { keyFault, mentionOf } from "./ConfigFault.ts"
import { deadlockWarnings, type Traffic } from "./DeadlockWarning.ts"
import { flowRoom, mostAtOnce, tooManyAtOnce } from "./FlowMemory.ts"
import { type InputFile, type Mention, readInput, type SearchPath, searchPathOf } from "./InputFile.ts"
import { type InputNote, InputsRefused } from "./InputsRefused.ts"
import { checkBackToZero, checkBuffers, checkFlows, checkLinkDown, checkRates } from "./Ns3Checks.ts"
import { checkController } from "./Ns3ControllerCheck.ts"
import { ns3ModeFor, ns3Routes } from "./Ns3Mode.ts"
import { checkOutputs } from "./Ns3Outputs.ts"
import { effectWarnings, flowWarnings, topologyWarnings } from "./Ns3Warnings.ts"

/** Everything a run of the HPCC simulator's own files starts from, read and checked. */
export interface Ns3Inputs {
  /** The config file as it was named, "-" when it came from elsewhere. */
  readonly name: string
  readonly configFile: ConfigFile
  readonly config: Ns3Config
  /** The paths under which the named files were found; `trace` is "" when none is named. */
  readonly files: { readonly topology: string; readonly flows: string; readonly trace: string }
  readonly topology: Ns3Topology
  /** The topology as a graph; links without a loss rate of their own have ERROR_RATE_PER_LINK. */
  readonly graph: Graph
  readonly ports: Ports
  /** In the original's order of next hops. */
  readonly routes: Routes
  readonly flows: Ns3Flows
  /** Nodes whose packets are traced; empty unless ENABLE_TRACE is 1. */
  readonly traceNodes: ReadonlyArray<number>
  /** In place of that of CC_MODE. */
  readonly controller?: ControllerFactory
  readonly notes: ReadonlyArray<InputNote>
}

export interface Ns3InputOptions {
  /** Relative paths start here; absolute. */
  readonly workingDirectory: string
  /** `KEY=value`, in the order in which they apply. */
  readonly overrides?: ReadonlyArray<string>
  /** The config, when it is in no file: its name is then only for messages, and its folder the working directory. */
  readonly configOctets?: Uint8Array
  /** In place of that of CC_MODE: packets carry what it needs, the other keys of the config hold. */
  readonly controller?: ControllerFactory | undefined
  /** What the process may use: more flows than that has room for are refused. Default: as much as there are. */
  readonly memoryBytes?: number
}

/**
 * Reads a config of the HPCC simulator and the files it names, and checks that together they can be run: what
 * `rdmakit lint` and `rdmakit run` both do first. Paths are looked for in the working directory, then in the config's
 * folder, then in that folder's parent.
 *
 * Fails with every fault found, at most one a file for wrong words, and one a rule for words that are wrong together.
 */
export const loadNs3Inputs = (
  config: string,
  options: Ns3InputOptions,
): Effect.Effect<Ns3Inputs, InputsRefused, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const here: SearchPath = { workingDirectory: options.workingDirectory, folders: ["."] }
    const mention: Mention = { file: config, line: 0, column: 0, field: "config" }
    const file: InputFile =
      options.configOctets === undefined
        ? yield* Effect.mapError(readInput(config, here, mention), (fault) => refusal([fault]))
        : { name: config, octets: options.configOctets }
    const configFile = yield* Effect.suspend(() => {
      const reading = new Reading()
      const parsed = reading.attempt(() =>
        applyOverrides(parseConfig(file.octets, file.name), options.overrides ?? [], "--set"),
      )
      return parsed === undefined ? Effect.fail(reading.refusal()) : Effect.succeed(parsed)
    })
    const search = options.configOctets === undefined ? searchPathOf(path, options.workingDirectory, config) : here
    return yield* loadNamed(config, configFile, search, options)
  })

const loadNamed = Effect.fnUntraced(function* (
  name: string,
  configFile: ConfigFile,
  search: SearchPath,
  { controller, memoryBytes = Number.POSITIVE_INFINITY }: Ns3InputOptions,
) {
  const { config: written } = configFile
  const config = controller === undefined ? written : { ...written, ccMode: ns3ModeFor(controller.needs) }
  const reading = new Reading()
  reading.note(configFile.notes, "note")
  const other = controller === undefined ? undefined : { name: controller.name, ccMode: config.ccMode }
  reading.notes.push(...effectWarnings(configFile, other))
  reading.check(checkOutputs(configFile))
  reading.check(checkBackToZero(configFile))
  const open = Effect.fnUntraced(function* (key: string, file: string) {
    const read = yield* Effect.result(readInput(file, search, mentionOf(configFile, key)))
    if (read._tag === "Success") return read.success
    reading.faults.push(read.failure)
    return undefined
  })

  const topologyFile = yield* open("TOPOLOGY_FILE", config.topologyFile)
  const flowFile = yield* open("FLOW_FILE", config.flowFile)
  const traced = config.traceEnabled && config.traceFile !== ""
  const traceFile = traced ? yield* open("TRACE_FILE", config.traceFile) : undefined

  const topology = topologyFile && reading.attempt(() => parseTopology(topologyFile.octets, topologyFile.name))
  if (topology !== undefined) reading.note(topology.notes, "note")
  // Without a topology the flows' own words can still be checked.
  const flows = flowFile && reading.attempt(() => parseFlows(flowFile.octets, flowFile.name, topology))
  if (flows !== undefined) reading.note(flows.notes, "note")
  const trace = traceFile && reading.attempt(() => parseTraceList(traceFile.octets, traceFile.name, topology?.nodes))
  if (trace !== undefined) reading.note(trace.notes, "note")
  if (topology === undefined || topologyFile === undefined) return yield* Effect.fail(reading.refusal())

  const graph: Graph = {
    nodes: topology.nodes,
    isSwitch: switchFlags(topology),
    links: topology.links.map((link) => ({
      ...link,
      delayPs: linkDelayNs(link) * 1000,
      lossRate: link.lossRate || config.errorRatePerLink,
    })),
  }
  const hint = networkTooLarge(graph)
  if (hint !== undefined) {
    const found = topologyFile.name
    reading.faults.push(keyFault(configFile, "TOPOLOGY_FILE", { found, expected: "a smaller network", hint }))
    return yield* Effect.fail(reading.refusal())
  }
  const ports = new Ports(graph)
  const routes = new Routes(graph, ports, ns3Routes)
  reading.note(topologyWarnings(configFile, topology, topologyFile.name), "warning")
  reading.check(checkRates(configFile, topology, topologyFile.name))
  reading.check(checkBuffers(configFile, graph, ports))
  reading.check(checkLinkDown(configFile, graph))
  if (controller === undefined) reading.check(checkController(configFile, graph))
  if (flows !== undefined && flowFile !== undefined) {
    reading.check(checkFlows(flows, flowFile.name, topologyFile.name, routes))
    const atOnce = tooManyAtOnce(mostAtOnce(flows.startPs), flowRoom(memoryBytes))
    if (atOnce !== undefined) reading.check(keyFault(configFile, "FLOW_FILE", atOnce))
  }
  if (reading.faults.length > 0 || flows === undefined || flowFile === undefined) {
    return yield* Effect.fail(reading.refusal())
  }
  reading.note(flowWarnings(configFile, graph, flows, routes), "warning")
  const place = mentionOf(configFile, "TOPOLOGY_FILE")
  const acknowledgements = config.ackHighPriority ? 0 : undefined
  reading.notes.push(...deadlockWarnings({ graph, ports, routes }, trafficOf(flows), place, acknowledgements))
  return {
    name,
    configFile,
    config,
    files: { topology: topologyFile.name, flows: flowFile.name, trace: traceFile?.name ?? "" },
    topology,
    graph,
    ports,
    routes,
    flows,
    traceNodes: trace?.nodes ?? [],
    ...(controller === undefined ? {} : { controller }),
    notes: reading.notes,
  } satisfies Ns3Inputs
})

function* trafficOf({ count, src, dst, pg }: Ns3Flows): Generator<Traffic> {
  for (let i = 0; i < count; i++) {
    yield { source: src[i]!, destination: dst[i]!, priority: pg[i]! }
  }
}

/** What has gone wrong so far, and what was noticed. */
class Reading {
  readonly faults: Array<Ns3FormatError> = []
  readonly notes: Array<InputNote> = []

  note(notes: ReadonlyArray<Ns3Note>, kind: InputNote["kind"]): void {
    for (const note of notes) this.notes.push({ ...note, kind })
  }

  check(fault: Ns3FormatError | undefined): void {
    if (fault !== undefined) this.faults.push(fault)
  }

  /** What `parse` gives; undefined when it throws a fault, which is kept. */
  attempt<A>(parse: () => A): A | undefined {
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof Ns3FormatError)) throw error
      this.faults.push(error)
      return undefined
    }
  }

  refusal(): InputsRefused {
    return refusal(this.faults, this.notes)
  }
}

const refusal = (faults: ReadonlyArray<Ns3FormatError>, notes: ReadonlyArray<InputNote> = []): InputsRefused =>
  new InputsRefused({ faults, notes })
