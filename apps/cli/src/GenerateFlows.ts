import {
  formatFlow,
  type Ns3Flows,
  type Ns3Topology,
  nearestWord,
  parseFlows,
  parseTopology,
  switchFlags,
} from "@rdmakit/ns3"
import {
  findInput,
  generateFlows,
  InputsRefused,
  isSizesName,
  type Mention,
  networkTooLarge,
  ns3FlowOf,
  ns3FlowsOf,
  readInput,
} from "@rdmakit/scenario"
import { type Graph, hostsOf, Ports, star } from "@rdmakit/topology"
import { tryParseRate, tryParseTime } from "@rdmakit/units"
import { bytesOf, mergedFlows, sizeDistributions, type WorkloadFlow } from "@rdmakit/workload"
import { Effect, Option } from "effect"
import { showNotes, withJsonFaults } from "./Faults.ts"
import { counted, quantity } from "./Figures.ts"
import { commandLineFault, type FieldFlag, FlagFields, type GivenFlag, givenFlags } from "./FlagFields.ts"
import { readable } from "./GenerateTopology.ts"
import { flowFlags } from "./generateFlags.ts"
import { checkOutputFile, writeOutputFile } from "./OutputFile.ts"
import { reading } from "./Reading.ts"
import { print, Screen, tell, WorkingDirectory } from "./Screen.ts"

export interface GenerateFlowsInput {
  readonly workload: string
  readonly topology: Option.Option<string>
  readonly hosts: Option.Option<string>
  readonly rate: Option.Option<string>
  readonly values: Readonly<Record<string, Option.Option<string>>>
  readonly merge: Option.Option<string>
  readonly out: Option.Option<string>
  readonly force: boolean
  readonly json: boolean
}

const workloadFlag: FieldFlag = { name: "WORKLOAD", path: ["workload"] }
const hostsFlag: FieldFlag = { name: "--hosts", path: ["hosts"] }
const startFlag: FieldFlag = { name: "--start", path: ["start"] }
/** When the simulator's own files begin. */
const START = "2s"
const HOSTS_MAX = 65_535
const RATE = "100Gbps"

/** Makes a workload and writes its flow file. */
export const generateFlowFile = (input: GenerateFlowsInput) =>
  Effect.gen(function* () {
    const { out, force, json } = input
    const sizesFile = Option.filter(input.values["--sizes"] ?? Option.none(), isFileName)
    const inputs = [input.topology, input.merge, sizesFile].flatMap(Option.toArray)
    const output = { out, force, inputs }
    yield* checkOutputFile(output)
    if (Option.isSome(sizesFile)) yield* checkSizes(sizesFile.value)
    const network = yield* networkOf(input)
    const source = new FlagFields("flows", [workloadFlag, hostsFlag, ...flowFlags], givenOf(input, network.named))
    const search = { workingDirectory: yield* WorkingDirectory, folders: ["."] }
    const made = yield* generateFlows(source, { ...network, seed: 0, search })
    const merged = yield* mergedWith(made, input.merge, network.topology)
    const { flows } = merged
    const extremes = yield* readable(() => ns3FlowsOf(extremesOf(flows)))
    const name = Option.getOrElse(out, () => "flows")
    const notes = [
      ...(network.topology?.notes ?? []),
      ...merged.notes,
      ...extremes.notes.map((note) => ({ ...note, file: name, line: 0 })),
    ]
    yield* showNotes(
      notes.map((note) => ({ ...note, kind: "note" })),
      (yield* Screen).err,
    )
    const summary = summaryOf(input, network.graph, made, flows)
    const sentence = `${counted(summary.flows, "flow")} of ${quantity(summary.bytes, "B")}${loadText(summary)}`
    if (Option.isNone(out) && json) {
      return yield* print(JSON.stringify({ ...summary, text: [...piecesOf(flows)].join("") }))
    }
    yield* writeOutputFile(piecesOf(flows), output)
    if (Option.isNone(out)) yield* tell(sentence)
    else yield* print(json ? JSON.stringify(summary) : `${sentence} in ${out.value}`)
  }).pipe(withJsonFaults(input.json, "command line"))

const refuse = (...fault: Parameters<typeof commandLineFault>) =>
  Effect.fail(new InputsRefused({ faults: [commandLineFault(...fault)], notes: [] }))

interface Network {
  readonly graph: Graph
  readonly connected: boolean
  /** Where it comes from a file: what flows of another have to fit. */
  readonly topology: Ns3Topology | undefined
  /** The hosts that take part, as a scenario names them; undefined: all. */
  readonly named: string | undefined
}

/** The topology that is named, or as many hosts at one switch as there are to be. */
const networkOf = Effect.fnUntraced(function* (input: GenerateFlowsInput) {
  const hosts = Option.map(input.hosts, (text) => ({ text, range: rangeOf(text) }))
  if (Option.isSome(hosts) && hosts.value.range === undefined) {
    return yield* refuse("--hosts", hosts.value.text, `how many, 2..${HOSTS_MAX}, or which, such as 0..15`)
  }
  const range = Option.getOrUndefined(Option.flatMapNullishOr(hosts, (value) => value.range))
  const named = range === undefined ? undefined : `${range.first}..${range.last}`
  if (Option.isSome(input.topology)) {
    if (Option.isSome(input.rate)) {
      return yield* refuse(
        "--rate",
        input.rate.value,
        "no such flag beside --topology",
        "the file says what rates links have",
      )
    }
    const file = yield* readNamed("--topology", input.topology.value)
    const topology = yield* reading(() => parseTopology(file.octets, file.name))
    const graph: Graph = { nodes: topology.nodes, isSwitch: switchFlags(topology), links: topology.links }
    const size = networkTooLarge(graph)
    if (size !== undefined) return yield* refuse("--topology", input.topology.value, "a smaller network", size)
    return { graph, connected: false, topology, named } satisfies Network as Network
  }
  if (range === undefined) return yield* refuse("--hosts", "", "this flag, or --topology")
  const text = Option.getOrElse(input.rate, () => RATE)
  const rate = tryParseRate(text)
  if (typeof rate !== "number" || !(rate > 0)) {
    const hint = typeof rate === "number" ? "a rate is above zero" : rate.message
    return yield* refuse("--rate", text, "a rate such as 100Gbps", hint)
  }
  const graph = star(range.last + 1, { rate })
  return { graph, connected: true, topology: undefined, named } satisfies Network as Network
})

/** "16" is 0..15. */
const rangeOf = (text: string): { readonly first: number; readonly last: number } | undefined => {
  const match = /^(?:(\d{1,5})\.\.)?(\d{1,5})$/.exec(text)
  if (match === null) return undefined
  const [first, last] = match[1] === undefined ? [0, Number(match[2]) - 1] : [Number(match[1]), Number(match[2])]
  return last > first && last < HOSTS_MAX ? { first, last } : undefined
}

const readNamed = Effect.fnUntraced(function* (flag: string, name: string) {
  const search = { workingDirectory: yield* WorkingDirectory, folders: ["."] }
  const mention: Mention = { file: "command line", line: 0, column: 0, field: flag }
  return yield* readInput(name, search, mention).pipe(
    Effect.mapError((fault) => new InputsRefused({ faults: [fault], notes: [] })),
  )
})

/** A word without a dot or a slash may as well be meant as a name: where no file is called so, the names are told. */
const checkSizes = Effect.fnUntraced(function* (word: string) {
  if (isPath(word)) return
  const search = { workingDirectory: yield* WorkingDirectory, folders: ["."] }
  const names = [...sizeDistributions.keys()].join(", ")
  yield* findInput(word, search, { file: "command line", line: 0, column: 0, field: "--sizes" }).pipe(
    Effect.catch(({ hint }) => refuse("--sizes", word, `${names} or a file`, hint)),
  )
})

const isPath = (word: string): boolean => /[./\\]/.test(word)

/** Whether --sizes names a file: no distribution, nor nearly the name of one. */
const isFileName = (word: string): boolean =>
  !isSizesName(word) && (isPath(word) || nearestWord(word, sizeDistributions.keys()) === undefined)

const givenOf = (input: GenerateFlowsInput, named: string | undefined): ReadonlyArray<GivenFlag> => {
  const flags = givenFlags(flowFlags, input.values).map((given): GivenFlag => {
    if (given.flag.name !== "--sizes" || !isFileName(given.text)) return given
    return { ...given, value: { file: given.text } }
  })
  const start = flags.some(({ flag }) => flag.name === startFlag.name)
  return [
    { flag: workloadFlag, text: input.workload, value: input.workload },
    ...(named === undefined ? [] : [{ flag: hostsFlag, text: Option.getOrElse(input.hosts, () => ""), value: named }]),
    ...flags,
    ...(start ? [] : [{ flag: startFlag, text: START, value: START }]),
  ]
}

const mergedWith = Effect.fnUntraced(function* (
  flows: ReadonlyArray<WorkloadFlow>,
  merge: Option.Option<string>,
  topology: Ns3Topology | undefined,
) {
  if (Option.isNone(merge)) return { flows, notes: [] }
  const file = yield* readNamed("--merge", merge.value)
  const other = yield* reading(() => parseFlows(file.octets, file.name, topology))
  return { flows: mergedFlows([workloadOf(other), flows]), notes: other.notes }
})

/** The flows that might be too much for the simulator: the largest and the last one. */
const extremesOf = (flows: ReadonlyArray<WorkloadFlow>): ReadonlyArray<WorkloadFlow> => {
  const last = flows.at(-1)
  if (last === undefined) return []
  return [flows.reduce((largest, flow) => (flow.sizeBytes > largest.sizeBytes ? flow : largest)), last]
}

const PIECE_FLOWS = 10_000

/** The flow file, piece by piece: millions of flows are no single text. */
function* piecesOf(flows: ReadonlyArray<WorkloadFlow>): Generator<string> {
  yield `${flows.length}\n`
  for (let at = 0; at < flows.length; at += PIECE_FLOWS) {
    let piece = ""
    for (const flow of flows.slice(at, at + PIECE_FLOWS)) piece += `${formatFlow(ns3FlowOf(flow))}\n`
    yield piece
  }
}

const workloadOf = (flows: Ns3Flows): ReadonlyArray<WorkloadFlow> =>
  Array.from({ length: flows.count }, (_, i) => ({
    source: flows.src[i]!,
    destination: flows.dst[i]!,
    sizeBytes: flows.sizeBytes[i]!,
    startPs: flows.startPs[i]!,
    priority: flows.pg[i]!,
    destinationPort: flows.dport[i]!,
  }))

/** What the file holds; the load is that of the flows made, over the time in which they start, of their hosts' links. */
const summaryOf = (
  input: GenerateFlowsInput,
  graph: Graph,
  made: ReadonlyArray<WorkloadFlow>,
  flows: ReadonlyArray<WorkloadFlow>,
) => {
  const range = Option.getOrUndefined(Option.flatMapNullishOr(input.hosts, rangeOf))
  const hosts = [...hostsOf(graph)].filter((host) => range === undefined || (host >= range.first && host <= range.last))
  const ports = new Ports(graph)
  let rateBps = 0
  for (const host of hosts) for (const port of ports.portsOf(host)) rateBps += ports.rateBps[port]!
  const duration = Option.map(input.values["--duration"] ?? Option.none(), tryParseTime)
  const durationPs = Option.getOrNull(Option.filter(duration, (time) => typeof time === "number"))
  return {
    workload: input.workload,
    hosts: hosts.length,
    flows: flows.length,
    bytes: bytesOf(flows),
    merged: flows.length - made.length,
    load: durationPs === null ? null : (bytesOf(made) * 8e12) / (rateBps * durationPs),
    file: Option.getOrNull(input.out),
  }
}

const loadText = ({ load, merged }: { readonly load: number | null; readonly merged: number }): string => {
  const parts = [
    ...(load === null ? [] : [`${(load * 100).toFixed(1)} % of the hosts' links`]),
    ...(merged === 0 ? [] : [`${counted(merged, "flow")} merged`]),
  ]
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`
}
