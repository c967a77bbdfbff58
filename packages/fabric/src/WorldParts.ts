import type { HostNic, HostNicOptions } from "@rdmakit/nic"
import type { TelemetryFormat } from "@rdmakit/packet"
import type {
  ControllerFactory,
  FlowCommand,
  FlowEvent,
  FlowTransport,
  PathInfo,
  Switch,
  Time,
} from "@rdmakit/protocol"
import type { ExactKernel, QueueWeights, TieOrder } from "@rdmakit/sim"
import type { Graph, Ports, Routes, RoutesOptions } from "@rdmakit/topology"
import type { AdmissionModel } from "./FlowAdmission.ts"
import type { FaultModel } from "./LinkFaults.ts"
import type { KernelName } from "./makeKernel.ts"
import type { WatchdogSettings } from "./PfcWatchdog.ts"

/** What a switch model is given to make one switch. */
export interface SwitchContext {
  readonly node: number
  readonly kernel: ExactKernel
  readonly graph: Graph
  readonly ports: Ports
  readonly routes: Routes
  readonly seed: number
}

export type MakeSwitch = (context: SwitchContext) => Switch
export type MakeNic = (options: HostNicOptions<FlowCommand, FlowEvent>) => HostNic<FlowCommand, FlowEvent>

/** Everything a simulated network is put together from. */
export interface WorldParts {
  readonly graph: Graph
  /** Or routes of this graph that are made already: the world goes on from them, and leaves them as they are. */
  readonly routes: RoutesOptions | Routes
  readonly transport: FlowTransport
  readonly controller: ControllerFactory
  readonly makeSwitch: MakeSwitch
  readonly makeNic: MakeNic
  /** What a controller is told of the path between two hosts. */
  readonly path: (flow: number, source: number, destination: number, lineRateBps: number) => PathInfo
  /** Which of a host's equal-cost ports a queue pair uses: an index below `count`. */
  readonly choosePort: (source: number, destination: number, udpPorts: number, count: number) => number
  readonly serializationPs: (bytes: number, rateBps: number) => Time
  /** How switch ports choose among their queues; weights are by port of the graph, eight for each. */
  readonly discipline: "strict" | "round-robin" | QueueWeights
  /** Who goes first among events at one time. Default "canonical". */
  readonly ties?: TieOrder
  /** Default: the fused kernel wherever it can serve. The results of both are the same. */
  readonly kernel?: KernelName
  /** All parts are local (see `FlowTransport`): the fused kernel may let nodes take turns. Default: it keeps the order of time. */
  readonly local?: boolean
  readonly telemetryFormat: TelemetryFormat
  /** Rates a hop's rate code stands for, bit/s: switch ports' rates are looked up in it. */
  readonly telemetryRates: ReadonlyArray<number>
  /** Bits of the priorities whose pause holds a host's acknowledgements back. */
  readonly controlPauseMask: number
  /** Zero-delay events between the start of a flow and its queue pair: 0, or the 2 of the ns-3 application model. */
  readonly startEvents: number
  /**
   * Data that come when their flow has ended are answered as those of a new one, to a sender that is gone (the ns-3 model).
   * Default false: they vanish.
   */
  readonly answersLate?: boolean
  readonly losses?: ReadonlyMap<number, ReadonlySet<number>>
  /** Draws of a loss model's own in place of the links' chances: asked of every frame, by sending port. */
  readonly isLost?: (port: number) => boolean
  /** Links that go down and up, and change what they lose. Without it they stay as they are. */
  readonly faults?: FaultModel
  /** Without it every flow starts when it should. */
  readonly admission?: AdmissionModel
  /** Without it nothing is done about pauses that stand. */
  readonly watchdog?: WatchdogSettings
  readonly seed: number
}
