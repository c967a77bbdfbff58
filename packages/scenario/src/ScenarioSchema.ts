import { Schema } from "effect"
import {
  FileName,
  Flag,
  field,
  Node,
  Nodes,
  positiveSize,
  Rate,
  Share,
  Size,
  Text,
  Time,
  Wrong,
  whole,
  words,
} from "./ScenarioFields.ts"
import { writtenNever, writtenSize } from "./WrittenFields.ts"

const BUFFER_MAX = 2 ** 31 - 1

const BufferSize = field(
  "a size below 2GiB, such as 32MiB",
  (value) => {
    const size = Schema.decodeUnknownOption(Size)(value)
    return size._tag === "Some" && size.value <= BUFFER_MAX ? size.value : new Wrong()
  },
  writtenSize,
)

/** Flows between hosts that are named. */
export const Flow = Schema.Struct({
  /** Hosts; of two ranges of the same length each flow takes one, a single host joins all of the other's. */
  from: Nodes,
  to: Nodes,
  size: Size,
  /** Default 0. */
  start: Schema.optionalKey(Time),
  /** Default 3. */
  priority: Schema.optionalKey(whole(1, 7)),
  /** So many of each. Default 1. */
  count: Schema.optionalKey(whole(1, 1_000_000)),
})
export type ScenarioFlow = typeof Flow.Type

/** A flow file of the HPCC simulator. */
export const FlowFile = Schema.Struct({ file: FileName })

const EcnRule = Schema.Struct({ rate: Rate, kmin: Size, kmax: Size, pmax: Share })

const SwitchSection = Schema.Struct({
  buffer: Schema.optionalKey(BufferSize),
  lossless: Schema.optionalKey(Flag),
  headroom: Schema.optionalKey(Size),
  reserve: Schema.optionalKey(Size),
  resumeOffset: Schema.optionalKey(Size),
  /** Whether queues mark. Default: when the controller needs it. */
  ecn: Schema.optionalKey(Flag),
  /** Thresholds of the ports of a rate, in place of those in proportion to it. */
  ecnRules: Schema.optionalKey(Schema.Array(EcnRule)),
})
export type ScenarioSwitch = typeof SwitchSection.Type

const Never = field(
  "a time such as 4ms, above 0, or never",
  (value) => {
    if (value === "never") return Number.POSITIVE_INFINITY
    const time = Schema.decodeUnknownOption(Time)(value)
    return time._tag === "Some" && time.value > 0 ? time.value : new Wrong()
  },
  writtenNever,
)

const TransportSection = Schema.Struct({
  mtu: Schema.optionalKey(
    field(
      "a size 1..16MiB, such as 1000 or 4KiB",
      (value) => {
        const size = Schema.decodeUnknownOption(Size)(value)
        return size._tag === "Some" && size.value >= 1 && size.value <= 2 ** 24 ? size.value : new Wrong()
      },
      writtenSize,
    ),
  ),
  framing: Schema.optionalKey(words(["simulator", "rocev2"])),
  baseRtt: Schema.optionalKey(words(["fabric", "pair"])),
  ackEvery: Schema.optionalKey(whole(1, 65_535)),
  nakInterval: Schema.optionalKey(Never),
  ackDuplicates: Schema.optionalKey(Flag),
  ackTimeout: Schema.optionalKey(Never),
  retryCount: Schema.optionalKey(whole(0, 2 ** 31)),
  repace: Schema.optionalKey(Flag),
})
export type ScenarioTransport = typeof TransportSection.Type

/** Which flows wait until others have ended: at least one limit. */
const AdmissionSection = Schema.Struct({
  flowsPerReceiver: Schema.optionalKey(whole(1, 2 ** 31 - 1)),
  flowsPerSender: Schema.optionalKey(whole(1, 2 ** 31 - 1)),
  creditPerReceiver: Schema.optionalKey(positiveSize),
  /** How long a grant is on its way. Default 0. */
  grantDelay: Schema.optionalKey(Time),
})
export type ScenarioAdmission = typeof AdmissionSection.Type

/** Packets lost on purpose, by their ordinals (from 0) among those that cross the link in that direction. */
const Loss = Schema.Struct({
  from: Node,
  to: Node,
  /** Which of several links between the two. Default 0. */
  link: Schema.optionalKey(whole(0, 65_535)),
  packets: Schema.Array(whole(0, Number.MAX_SAFE_INTEGER)),
})
export type ScenarioLoss = typeof Loss.Type

const ControllerSection = Schema.Struct({
  name: Text,
  preset: Schema.optionalKey(Text),
  variant: Schema.optionalKey(Text),
  options: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
})
export type ScenarioController = typeof ControllerSection.Type

/** A scenario; which topology and which flows it has is decided by their first look. */
export const scenarioSchema = <T, F>(topology: Schema.Codec<T, unknown>, flows: Schema.Codec<F, unknown>) =>
  Schema.Struct({
    name: Schema.optionalKey(Text),
    /** Of workloads, ECMP, marks and losses. Default 0. */
    seed: Schema.optionalKey(whole(0, 0xffffffff)),
    /** Nothing at or after this time happens. Default: until nothing is left to do. */
    stop: Schema.optionalKey(Time),
    topology,
    flows,
    controller: Schema.optionalKey(ControllerSection),
    switch: Schema.optionalKey(SwitchSection),
    transport: Schema.optionalKey(TransportSection),
    admission: Schema.optionalKey(AdmissionSection),
    losses: Schema.optionalKey(Schema.Array(Loss)),
  })
