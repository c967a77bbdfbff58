import { BUFFER_BYTES_MAX, balancerNames, FRAME_BYTES_MAX } from "@rdmakit/fabric"
import { formatSize } from "@rdmakit/units"
import { Schema } from "effect"
import { FaultEntry } from "./FaultSection.ts"
import {
  FileName,
  Flag,
  field,
  Node,
  Nodes,
  positiveSize,
  positiveTime,
  Rate,
  Share,
  Size,
  Text,
  Time,
  Wrong,
  whole,
  words,
} from "./ScenarioFields.ts"
import { writtenAbove, writtenNever, writtenSizeOf, writtenSome, writtenWeights } from "./WrittenFields.ts"

const BufferSize = field(
  "a size below 2GiB, such as 32MiB",
  (value) => {
    const size = Schema.decodeUnknownOption(Size)(value)
    return size._tag === "Some" && size.value <= BUFFER_BYTES_MAX ? size.value : new Wrong()
  },
  writtenSizeOf(0, BUFFER_BYTES_MAX),
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

const ALPHA_MAX = 1024

/** A threshold as a share of the free buffer. */
const Alpha = field(
  `a number above 0, at most ${ALPHA_MAX}, such as 0.125`,
  (value) => (typeof value === "number" && value > 0 && value <= ALPHA_MAX ? value : new Wrong()),
  writtenAbove(ALPHA_MAX),
)

const PRIORITIES = 7
const WEIGHT_MAX = 1000

const Weights = field(
  `${PRIORITIES} numbers above 0, at most ${WEIGHT_MAX}, of the priorities 1 to ${PRIORITIES}`,
  (value): ReadonlyArray<number> | Wrong => {
    const isWeight = (weight: unknown) => typeof weight === "number" && weight > 0 && weight <= WEIGHT_MAX
    return Array.isArray(value) && value.length === PRIORITIES && value.every(isWeight) ? value : new Wrong()
  },
  writtenWeights(PRIORITIES, WEIGHT_MAX),
)

const SwitchSection = Schema.Struct({
  buffer: Schema.optionalKey(BufferSize),
  lossless: Schema.optionalKey(Flag),
  headroom: Schema.optionalKey(Size),
  reserve: Schema.optionalKey(Size),
  resumeOffset: Schema.optionalKey(BufferSize),
  /** Lossless: where an ingress is paused, bytes of the shared pool, or a share of what is free of it. */
  pauseThreshold: Schema.optionalKey(positiveSize),
  pauseAlpha: Schema.optionalKey(Alpha),
  /** Lossy: where an egress queue drops, the same two ways. */
  egressThreshold: Schema.optionalKey(positiveSize),
  egressAlpha: Schema.optionalKey(Alpha),
  /** How a switch chooses among equal-cost next hops. Default ecmp. */
  loadBalancer: Schema.optionalKey(words(balancerNames)),
  /** What ends a flowlet. Default 100us. */
  flowletGap: Schema.optionalKey(positiveTime("100us")),
  /** How a port chooses among its queues. Default strict, the higher the priority the sooner. */
  scheduler: Schema.optionalKey(words(["strict", "round-robin", "weighted"])),
  /** Of every port, default all alike; then of the port from one node to another. */
  weights: Schema.optionalKey(Weights),
  portWeights: Schema.optionalKey(
    Schema.Array(Schema.Struct({ from: Node, to: Node, link: Schema.optionalKey(whole(0, 65_535)), weights: Weights })),
  ),
  /** A PFC watchdog at every switch port; times of SONiC's defaults, 200ms, and action drop. Default: none. */
  watchdog: Schema.optionalKey(
    Schema.Struct({
      detection: Schema.optionalKey(positiveTime("200ms")),
      restoration: Schema.optionalKey(positiveTime("200ms")),
      action: Schema.optionalKey(words(["drop", "forward"])),
    }),
  ),
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

const REORDER_MAX = 2 ** 20

export const TransportSection = Schema.Struct({
  /** What carries the flows. Default rc, whose fields follow; the others have `options`. */
  name: Schema.optionalKey(Text),
  options: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  mtu: Schema.optionalKey(
    field(
      `a size 1..${formatSize(FRAME_BYTES_MAX)}, such as 1000 or 4KiB`,
      (value) => {
        const size = Schema.decodeUnknownOption(Size)(value)
        return size._tag === "Some" && size.value >= 1 && size.value <= FRAME_BYTES_MAX ? size.value : new Wrong()
      },
      writtenSizeOf(1, FRAME_BYTES_MAX),
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
  /** What is sent again after a loss. Default go-back-n; `restartSize` is for go-back-0, the next four for selective-repeat. */
  recovery: Schema.optionalKey(words(["go-back-n", "selective-repeat", "go-back-0", "timeout"])),
  restartSize: Schema.optionalKey(positiveSize),
  bdpPackets: Schema.optionalKey(whole(1, REORDER_MAX)),
  reorderPackets: Schema.optionalKey(whole(1, REORDER_MAX)),
  ackTimeoutHigh: Schema.optionalKey(Never),
  ackTimeoutFewPackets: Schema.optionalKey(whole(0, REORDER_MAX)),
})
export type ScenarioTransport = typeof TransportSection.Type

/** Which flows wait until others have ended: at least one limit. */
const AdmissionSection = Schema.Struct({
  flowsPerReceiver: Schema.optionalKey(whole(1, 2 ** 31 - 1)),
  flowsPerSender: Schema.optionalKey(whole(1, 2 ** 31 - 1)),
  creditPerReceiver: Schema.optionalKey(positiveSize),
  /** How long a grant is on its way. Default 0. */
  grantDelay: Schema.optionalKey(Time),
}).check(writtenSome("flowsPerReceiver", "flowsPerSender", "creditPerReceiver"))
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
    faults: Schema.optionalKey(Schema.Array(FaultEntry)),
    /** How long routes take to follow a link that goes down or comes up. Default 0. */
    convergence: Schema.optionalKey(Time),
  })
