import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { NEVER, OptionError, type Time } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { BufferTooSmall } from "@rdmakit/switch"
import { type Graph, TopologyError, validate } from "@rdmakit/topology"
import { Context, Data, Effect, Layer } from "effect"
import type { AdmissionModel } from "./FlowAdmission.ts"
import type { Fault } from "./LinkFaults.ts"
import { type NicFactory, readyListNics, type SwitchFactory } from "./Models.ts"
import { KernelRefused } from "./makeKernel.ts"
import type { NativeOptions } from "./NativeParts.ts"
import { NativeRun } from "./NativeRun.ts"
import { sharedBufferSwitches } from "./NativeSwitch.ts"
import type { WatchdogSettings } from "./PfcWatchdog.ts"
import type { RunOutcome } from "./Run.ts"
import { type RunFault, type SimulateOptions, simulate } from "./simulate.ts"
import type { TransportModel } from "./TransportModel.ts"
import { type FlowInput, FlowInvalid, flowsOf } from "./Workload.ts"

/** The network that is simulated. `Layer.succeed(Topology, star(17))`. */
export class Topology extends Context.Service<Topology, Graph>()("@rdmakit/fabric/Topology") {}

/** The switches; shared-buffer ones with their defaults unless a layer says otherwise. */
export const SwitchModel = Context.Reference<SwitchFactory>("@rdmakit/fabric/SwitchModel", {
  defaultValue: () => sharedBufferSwitches(),
})

/** The hosts' NICs; ideal ones unless a layer says otherwise. */
export const NicModel = Context.Reference<NicFactory>("@rdmakit/fabric/NicModel", {
  defaultValue: () => readyListNics,
})

/**
 * What carries the flows: reliable connections with their defaults unless a layer gives settings for them, or another
 * transport: `Layer.succeed(Transport, (controller) => tcpFlows(tcpConfig({ controller })))`.
 */
export const Transport = Context.Reference<TransportModel>("@rdmakit/fabric/Transport", {
  defaultValue: () => ({}),
})

/** What holds flows back at their hosts; nothing unless a layer says otherwise. */
export const AdmissionControl = Context.Reference<AdmissionModel | undefined>("@rdmakit/fabric/AdmissionControl", {
  defaultValue: () => undefined,
})

/** How switch ports choose among their queues; strict priorities unless a layer says otherwise. */
export const Scheduling = Context.Reference<NonNullable<NativeOptions["discipline"]>>("@rdmakit/fabric/Scheduling", {
  defaultValue: () => "strict" as const,
})

/** A PFC watchdog at every switch port; none unless a layer says otherwise. */
export const Watchdog = Context.Reference<WatchdogSettings | undefined>("@rdmakit/fabric/Watchdog", {
  defaultValue: () => undefined,
})

/** What happens to links and hosts, and when; nothing unless a layer says otherwise. */
export const Faults = Context.Reference<ReadonlyArray<Fault>>("@rdmakit/fabric/Faults", {
  defaultValue: () => [],
})

/** How long routes take to follow a link that goes down or comes up, ps; none unless a layer says otherwise. */
export const RouteConvergence = Context.Reference<Time>("@rdmakit/fabric/RouteConvergence", {
  defaultValue: () => 0,
})

/** A network that cannot be put together: the cause says why. */
export class NetworkInvalid extends Data.TaggedError("NetworkInvalid")<{
  readonly cause: BufferTooSmall | KernelRefused | OptionError | TopologyError
}> {
  override get message(): string {
    return this.cause.message
  }
}

export interface FabricOptions extends SimulateOptions {
  /** Of ECMP, marks and losses: a whole number of 32 bits, at least 0. Default 0. */
  readonly seed?: number
  /** Nothing at or after this moment happens, ps. Default: the run goes on until nothing is left to do. */
  readonly until?: Time
  /** Default: the fused kernel wherever it can serve. The results of both are the same. */
  readonly kernel?: NativeOptions["kernel"]
  /**
   * The base RTT that controllers are told, whatever the transport: see `TransportSettings`. Default: what the settings
   * of `Transport` say, "fabric" if they say nothing or it is another transport.
   */
  readonly baseRtt?: NativeOptions["baseRtt"]
}

/** A simulated network that carries flows. */
export class Fabric extends Context.Service<
  Fabric,
  {
    /**
     * Puts the network together and runs flows to their ends, in virtual time. Every call starts anew: the same flows
     * and seed give the same outcome. Interruption takes effect between batches of events.
     */
    readonly simulate: (
      flows: ReadonlyArray<FlowInput>,
      options?: FabricOptions,
    ) => Effect.Effect<RunOutcome, FlowInvalid | NetworkInvalid | RunFault>
  }
>()("@rdmakit/fabric/Fabric") {
  /** The parts that layers give: topology and congestion control have no default here, all others do. */
  static readonly layer: Layer.Layer<Fabric, never, Topology | CongestionControl> = Layer.effect(
    Fabric,
    Effect.gen(function* () {
      const graph = yield* Topology
      const controller = yield* CongestionControl
      const switches = yield* SwitchModel
      const nics = yield* NicModel
      const transport = yield* Transport
      const admission = yield* AdmissionControl
      const discipline = yield* Scheduling
      const watchdog = yield* Watchdog
      const faults = yield* Faults
      const convergencePs = yield* RouteConvergence
      const more = {
        discipline,
        ...(admission === undefined ? {} : { admission }),
        ...(watchdog === undefined ? {} : { watchdog }),
        ...(Array.isArray(faults) && faults.length === 0 ? {} : { faults }),
        convergencePs,
      }
      const assemble = (flows: ReadonlyArray<FlowInput>, options: FabricOptions): NativeRun => {
        const { seed = 0, until = NEVER, kernel, baseRtt } = options
        const [error] = validate(graph)
        if (error !== undefined) throw error
        const asked = { ...(kernel === undefined ? {} : { kernel }), ...(baseRtt === undefined ? {} : { baseRtt }) }
        return new NativeRun(
          { graph, controller, switches, nics, transport, seed, ...more, ...asked },
          { flows: flowsOf(flows, graph), until },
        )
      }
      return Fabric.of({
        simulate: (flows, options = {}) =>
          Effect.try({ try: () => assemble(flows, options), catch: reasonOf }).pipe(
            Effect.flatMap((run) => simulate(run, options)),
          ),
      })
    }),
  )

  /** The same with HPCC as its paper's simulations ran it: only a topology is left to give. */
  static readonly layerHpcc: Layer.Layer<Fabric, never, Topology> = this.layer.pipe(
    Layer.provide(Layer.sync(CongestionControl, () => hpcc(hpccPresets.simulation))),
  )
}

/** Runs flows on the fabric that layers give. */
export const simulateFlows = (
  flows: ReadonlyArray<FlowInput>,
  options?: FabricOptions,
): Effect.Effect<RunOutcome, FlowInvalid | NetworkInvalid | RunFault, Fabric> =>
  Effect.flatMap(Fabric, (fabric) => fabric.simulate(flows, options))

const reasonOf = (error: unknown): FlowInvalid | NetworkInvalid =>
  error instanceof FlowInvalid ? error : networkInvalid(error)

/** Anything but the errors of inputs is a bug, and dies as one. */
export const networkInvalid = (error: unknown): NetworkInvalid => {
  // Options of whichever part it is: the errors of all of them are OptionErrors.
  const isKnown =
    error instanceof BufferTooSmall ||
    error instanceof KernelRefused ||
    error instanceof OptionError ||
    error instanceof TopologyError
  if (isKnown) return new NetworkInvalid({ cause: error })
  throw error
}
