/** Workloads that a scenario can name, each with its options. */
import { nearestWord } from "@rdmakit/ns3"
import { bisectionBps, type Graph, Ports } from "@rdmakit/topology"
import {
  allToAllSteps,
  bisectionLoadBps,
  fixedSize,
  hostLoadBps,
  incastFlows,
  incastMembers,
  networkLoadBps,
  permutationSteps,
  poissonSteps,
  randomIncastSteps,
  ringSteps,
  SizeDistribution,
  type SizePoint,
  type Steps,
  sizeDistributions,
  WorkloadError,
  type WorkloadFlow,
} from "@rdmakit/workload"
import { Schema } from "effect"
import {
  field,
  Node,
  Nodes,
  positiveSize,
  positiveTime,
  Rate,
  readShare,
  Time,
  Wrong,
  whole,
  words,
} from "./ScenarioFields.ts"
import { writtenEither, writtenLoad, writtenSizes, writtenWith } from "./WrittenFields.ts"

/** A file of sizes, before it is read. */
export interface SizesFile {
  readonly file: string
}

/** Letters and digits alone: "FB_Hadoop", "fb-hadoop" and "fbhadoop" are one name. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")
const named = new Map(Array.from(sizeDistributions, ([name, sizes]) => [plain(name), sizes]))

/** Whether a word is the name of a distribution of sizes. */
export const isSizesName = (word: string): boolean => named.has(plain(word))

const names = [...sizeDistributions.keys()]
const Sizes = field(
  `${names.join(", ")}, { file: NAME } or points such as [[0, 0], [1000, 100]]`,
  (value): SizeDistribution | SizesFile | Wrong => {
    if (typeof value === "string") {
      const near = nearestWord(value, names)
      const hint = near === undefined ? "a file is { file: NAME }" : `did you mean ${near}?`
      return named.get(plain(value)) ?? new Wrong(hint)
    }
    if (Array.isArray(value)) return pointsOf(value)
    const { file, ...rest } = (value ?? {}) as Record<string, unknown>
    return typeof file === "string" && file !== "" && Object.keys(rest).length === 0 ? { file } : new Wrong()
  },
  writtenSizes,
)

const pointsOf = (value: ReadonlyArray<unknown>): SizeDistribution | Wrong => {
  const isPoint = (point: unknown): point is SizePoint =>
    Array.isArray(point) && point.length === 2 && point.every((part) => typeof part === "number")
  if (!value.every(isPoint)) return new Wrong("a point is a size in bytes and the percentage of flows up to it")
  try {
    return new SizeDistribution(value)
  } catch (error) {
    if (!(error instanceof WorkloadError)) throw error
    return new Wrong(error.message)
  }
}

const Load = field(
  "a share above 0, such as 0.3",
  (value) => {
    const load = readShare(value)
    if (!(load > 0)) return new Wrong()
    return load <= 10 ? load : new Wrong("at most 10: a share, not a percentage")
  },
  writtenLoad(10),
)
const Count = whole(1, 10_000_000)

const common = {
  workload: Schema.Unknown,
  /** Who takes part. Default: every host. */
  hosts: Schema.optionalKey(Nodes),
  /** Default 0. */
  start: Schema.optionalKey(Time),
  /** Default 3. */
  priority: Schema.optionalKey(whole(1, 7)),
  /** Default: follows from the scenario's seed and the place in the list. */
  seed: Schema.optionalKey(whole(0, 0xffffffff)),
  /** Of every flow; or: */
  size: Schema.optionalKey(positiveSize),
  sizes: Schema.optionalKey(Sizes),
}
const Duration = positiveTime("1ms")

/** A workload's own options beside those that every one has. */
const workloadOf = <Own extends Schema.Struct.Fields>(own: Own) =>
  Schema.Struct({ ...common, ...own }).check(writtenEither("size", "sizes"))

/** What a workload is told besides its own options. */
export interface WorkloadContext {
  readonly graph: Graph
  readonly hosts: ReadonlyArray<number>
  /** All links of a host together, bit/s. */
  readonly rateBps: (host: number) => number
  readonly sizes: SizeDistribution
  readonly startPs: number
  readonly priority: number
  readonly seed: number
}

/** The options that every workload has, decoded. */
export interface WorkloadBase {
  readonly workload: unknown
  readonly hosts?: ReadonlyArray<number>
  readonly start?: number
  readonly priority?: number
  readonly seed?: number
  readonly size?: number
  readonly sizes?: SizeDistribution | SizesFile
}

/** Few flows at once; many in steps. */
type Made = ReadonlyArray<WorkloadFlow>

export interface WorkloadChoice<A extends WorkloadBase = WorkloadBase> {
  readonly schema: Schema.Codec<A, unknown>
  /** @throws WorkloadError */
  readonly generate: (options: A, context: WorkloadContext) => Made | Steps<Made>
}

const choice = <A extends WorkloadBase>(value: WorkloadChoice<A>): WorkloadChoice => value as unknown as WorkloadChoice

const rounds = { rounds: Schema.optionalKey(Count), gap: Schema.optionalKey(Time) }
const roundsOf = ({ rounds, gap }: { readonly rounds?: number; readonly gap?: number }) => ({
  ...(rounds === undefined ? {} : { rounds }),
  ...(gap === undefined ? {} : { gapPs: gap }),
})

/** `workload: NAME`. */
export const workloads: Readonly<Record<string, WorkloadChoice>> = {
  poisson: choice({
    schema: workloadOf({
      /** Payload, a share of: */
      load: Load,
      /** Each host's links, or what one half of the hosts can send to the other. Default: hosts. */
      of: Schema.optionalKey(words(["hosts", "bisection"])),
      /** In place of what the topology can carry from one half to the other. */
      bisection: Schema.optionalKey(Rate),
      duration: Duration,
    }),
    generate: ({ load, of, bisection, duration }, { graph, rateBps, ...context }) => {
      const { hosts } = context
      const payloadBps =
        of === "bisection"
          ? bisectionLoadBps(load, bisection ?? bisectionBps(graph, hosts), hosts.length)
          : hosts.map((host) => hostLoadBps(load, rateBps(host)))
      return poissonSteps({ ...context, payloadBps, durationPs: duration })
    },
  }),
  "random-incast": choice({
    schema: workloadOf({
      /** Senders of each. */
      fanIn: Count,
      /** Payload of all, a share of all hosts' links together. */
      load: Load,
      duration: Duration,
      jitter: Schema.optionalKey(Time),
    }),
    generate: ({ fanIn, load, duration, jitter = 0 }, { graph: _, rateBps, ...context }) => {
      const payloadBps = networkLoadBps(load, context.hosts.map(rateBps))
      return randomIncastSteps({ ...context, fanIn, payloadBps, durationPs: duration, jitterPs: jitter })
    },
  }),
  incast: choice({
    schema: workloadOf({
      /** How many senders, drawn among the hosts; or: */
      fanIn: Schema.optionalKey(Count),
      senders: Schema.optionalKey(Nodes),
      /** Default: drawn. */
      receiver: Schema.optionalKey(Node),
      jitter: Schema.optionalKey(Time),
    }).check(writtenEither("fanIn", "senders"), writtenWith("senders", "receiver")),
    generate: ({ fanIn, senders, receiver, jitter = 0 }, context) => {
      if ((fanIn === undefined) === (senders === undefined)) {
        throw new WorkloadError("fanIn", fanIn ?? "", "either fanIn or senders")
      }
      if (senders === undefined) {
        const members = incastMembers(context.hosts, fanIn!, context.seed, 0, receiver)
        return incastFlows({ ...context, ...members, jitterPs: jitter })
      }
      if (receiver === undefined) throw new WorkloadError("receiver", "", "a host, since senders are named")
      return incastFlows({ ...context, senders, receiver, jitterPs: jitter })
    },
  }),
  permutation: choice({
    schema: workloadOf(rounds),
    generate: (options, context) => permutationSteps({ ...context, ...roundsOf(options) }),
  }),
  "all-to-all": choice({
    schema: workloadOf({ gap: Schema.optionalKey(Time) }),
    generate: (options, context) => allToAllSteps({ ...context, ...roundsOf(options) }),
  }),
  ring: choice({
    schema: workloadOf(rounds),
    generate: (options, context) => ringSteps({ ...context, ...roundsOf(options) }),
  }),
}

/** The option of a scenario behind one of a workload's. */
export const fieldOfOption: Readonly<Record<string, string>> = {
  startPs: "start",
  durationPs: "duration",
  gapPs: "gap",
  jitterPs: "jitter",
  bisectionBps: "of",
  rateBps: "load",
  ratesBps: "load",
  payloadBps: "load",
}

/** All links of each host together, bit/s. */
export const ratesOf = (graph: Graph): ((host: number) => number) => {
  const ports = new Ports(graph)
  return (host) => ports.portsOf(host).reduce((sum, port) => sum + ports.rateBps[port]!, 0)
}

/** The sizes that the options name; undefined for a file, which has to be read, and where they name none or two. */
export const sizesOf = ({ size, sizes }: WorkloadBase): SizeDistribution | undefined => {
  if ((size === undefined) === (sizes === undefined)) return undefined
  if (size !== undefined) return fixedSize(size)
  return sizes instanceof SizeDistribution ? sizes : undefined
}
