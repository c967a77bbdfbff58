import type { Device, DeviceOptions } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import { NEVER, type Time, type VerbsTransport } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import type { VerbsOptions } from "@rdmakit/transport-ib"
import { Context, Effect, Exit, Option } from "effect"
import {
  Faults,
  type NetworkInvalid,
  networkInvalid,
  RouteConvergence,
  Scheduling,
  SwitchModel,
  Topology,
} from "../Fabric.ts"
import { checkUntil } from "../NetworkChecks.ts"
import { faultOf, type RunFault } from "../simulate.ts"
import type { Links } from "../verbs/Links.ts"
import { VerbsNetwork } from "../verbs/VerbsNetwork.ts"
import type { PacketObserver, VerbsNetworkOptions } from "../verbs/VerbsNetworkOptions.ts"
import { type ProgramFault, VirtualRun } from "./VirtualRun.ts"

/** Events between two looks at the outside. */
const BATCH = 1 << 12

/** How queue pairs of devices behave, without the congestion controller, which is a layer's; defaults unless a layer says otherwise. */
export const QueuePairs = Context.Reference<Omit<VerbsOptions, "controller" | "seed">>("@rdmakit/fabric/QueuePairs", {
  defaultValue: () => ({}),
})

/** The links of the network that a program runs on: it may break them. */
export class NetworkLinks extends Context.Service<NetworkLinks, Links>()("@rdmakit/fabric/NetworkLinks") {}

export interface ProgramOptions {
  /** Of everything that is drawn: the program's `Random`, hashes, marks, faults, the devices' numbers and keys. 32 bits. Default 0. */
  readonly seed?: number
  /** The program has to end before this, ps. Default: it may take as long as it likes. */
  readonly until?: Time
  /** Largest path MTU, 256 to 4,096. Default 4,096. */
  readonly mtuBytes?: number
  /** What carries queue pairs, in place of InfiniBand's transport as `QueuePairs` has it. */
  readonly transport?: VerbsTransport
  /** How the device of a node differs. By default that of host 3 is called rdmakit3, and has the limits of Linux's rxe. */
  readonly device?: (node: number) => DeviceOptions
  /** Sees each packet that arrives at a host, or leaves it. It must not keep the cursor, nor change anything. */
  readonly onPacket?: PacketObserver
}

/** What came of a program. */
export interface ProgramOutcome<A> {
  readonly value: A
  /** When it ended, ps. */
  readonly time: Time
  /** Of every packet that arrived at a host, and when: equal digests are equal runs. */
  readonly digest: string
  readonly events: number
  readonly packets: number
  /** Packets for queue pairs that did not exist. */
  readonly packetsUnclaimed: number
  /** Packets that were lost on links or at switches, by minus the reason's code. */
  readonly dropCounts: Float64Array
}

/** What a program may ask for, beside what it is given from outside. */
export type ProgramServices = Provider | NetworkLinks

/**
 * Runs a program in virtual time, on a simulated network whose hosts have a device each: `Provider` has them in the order
 * of the hosts' numbers. `Effect.sleep`, timeouts, schedules and fibers follow the simulated clock, which starts at 0 and
 * stands still while they run; `Random` is seeded. The same program, network and seed give the same outcome.
 *
 * Nothing comes from outside of virtual time. A program that waits for what can never come, a promise for one, ends with
 * `Stalled`; one that a promise resumes while time is under way ends with `OutsideTime`. When the program ends, so does
 * its network: detached fibers go no further. Interruption takes effect between batches of events, and finalizers run.
 */
export const simulateProgram = <A, E, R>(
  program: Effect.Effect<A, E, R>,
  options: ProgramOptions = {},
): Effect.Effect<
  ProgramOutcome<A>,
  E | ProgramFault | NetworkInvalid | RunFault,
  Topology | Exclude<R, ProgramServices>
> =>
  Effect.gen(function* () {
    const network = yield* assemble(options)
    const outside = yield* Effect.context<Exclude<R, ProgramServices>>()
    const context = outside.pipe(
      Context.add(Provider, { devices: network.devices }),
      Context.add(NetworkLinks, network.links),
    ) as unknown as Context.Context<R>
    const { seed = 0, until = NEVER } = options
    const run = new VirtualRun(network, program, context, { seed, until, outstanding: () => network.outstanding() })
    const value = yield* drive(run).pipe(Effect.onInterrupt(() => Effect.sync(() => run.interrupt())))
    return {
      value,
      time: network.now,
      digest: network.digest,
      events: network.kernel.events,
      packets: network.packetsArrived,
      packetsUnclaimed: network.packetsUnclaimed,
      dropCounts: network.kernel.dropCounts,
    }
  })

/**
 * Gives a program the device of one host alone, as it would have it on a machine of its own.
 *
 * @param host its place among the hosts, from 0
 */
export const onHost =
  (host: number) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Provider> =>
    Effect.flatMap(Provider, ({ devices }) => {
      const device: Device | undefined = devices[host]
      if (device === undefined) return Effect.die(new RangeError(`host ${host}: there are ${devices.length}`))
      return Effect.provideService(program, Provider, { devices: [device] })
    })

const assemble = (options: ProgramOptions): Effect.Effect<VerbsNetwork, NetworkInvalid, Topology> =>
  Effect.gen(function* () {
    const graph = yield* Topology
    const controller = Option.getOrUndefined(yield* Effect.serviceOption(CongestionControl))
    const parts: VerbsNetworkOptions = {
      graph,
      switches: yield* SwitchModel,
      queuePairs: yield* QueuePairs,
      discipline: yield* Scheduling,
      faults: yield* Faults,
      convergencePs: yield* RouteConvergence,
      ...(controller === undefined ? {} : { controller }),
    }
    const { until, ...rest }: ProgramOptions = options
    const make = (): VerbsNetwork => {
      checkUntil(until)
      return new VerbsNetwork({ ...parts, ...rest })
    }
    return yield* Effect.try({ try: make, catch: networkInvalid })
  })

/** A batch of events at a time, until the program has ended or was ended. */
const drive = <A, E, R>(run: VirtualRun<A, E, R>): Effect.Effect<A, E | ProgramFault | RunFault> =>
  Effect.gen(function* () {
    while (yield* Effect.try({ try: () => run.step(BATCH), catch: faultOf })) yield* Effect.yieldNow
    if (run.fault !== undefined) return yield* Effect.fail(run.fault)
    const { exit } = run
    if (exit === undefined) return yield* Effect.die(new Error("a program neither ended nor was ended"))
    return yield* Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.failCause(exit.cause)
  })
