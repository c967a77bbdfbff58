import { exactTelemetry } from "@rdmakit/packet"
import type { ControllerFactory, Feedback, FlowTransport, PathInfo, Time } from "@rdmakit/protocol"
import { ExactDelays, type Graph, Ports, Routes, TopologyError } from "@rdmakit/topology"
import { rcFlows } from "@rdmakit/transport-ib"
import { murmur3, serializationPs } from "@rdmakit/units"
import { checkedFaults } from "./FaultChecks.ts"
import type { AdmissionModel } from "./FlowAdmission.ts"
import { type Fault, longestPath } from "./LinkFaults.ts"
import {
  frameBytesOf,
  type NetworkContext,
  type NicFactory,
  readyListNics,
  type SwitchFactory,
  type TransportFactory,
} from "./Models.ts"
import { sharedBufferSwitches } from "./NativeSwitch.ts"
import { nativeTransport, patient, type TransportSettings } from "./NativeTransport.ts"
import { checkDiscipline, checkOptions } from "./NetworkChecks.ts"
import { nicMaker, switchMaker } from "./PartChecks.ts"
import type { WatchdogSettings } from "./PfcWatchdog.ts"
import { madeTransport, settingsOrFactory, type TransportModel } from "./TransportModel.ts"
import type { WorldParts } from "./WorldParts.ts"

export interface NativeOptions {
  readonly graph: Graph
  readonly controller: ControllerFactory
  /** Of hashes, marks and losses: a whole number of 32 bits, at least 0. Default 0. */
  readonly seed?: number
  /** Default `sharedBufferSwitches()`. */
  readonly switches?: SwitchFactory
  /** Default `readyListNics`. */
  readonly nics?: NicFactory
  /** What carries the flows: settings of reliable connections, or another transport. Default `{}`. */
  readonly transport?: TransportModel
  /** Another transport where `transport` has settings that hold for it too, which `baseRtt` alone is. */
  readonly makeTransport?: TransportFactory
  /** The base RTT that controllers are told, whatever the transport: see `TransportSettings`, whose default it has. */
  readonly baseRtt?: TransportSettings["baseRtt"]
  /** Packets lost on purpose: by directed port, the ordinals (from 0) of the packets that cross its link. */
  readonly losses?: ReadonlyMap<number, ReadonlySet<number>>
  /** How switch ports choose among their queues. Default strict priorities. */
  readonly discipline?: WorldParts["discipline"]
  /** Default: the fused kernel wherever it can serve. The results of both are the same. */
  readonly kernel?: WorldParts["kernel"]
  /** What holds flows back at their hosts. Default: nothing. */
  readonly admission?: AdmissionModel
  /** A PFC watchdog at every switch port. Default: none. */
  readonly watchdog?: WatchdogSettings
  /** What happens to links and hosts, and when. Default: nothing. */
  readonly faults?: ReadonlyArray<Fault>
  /** How long routes take to follow a link that goes down or comes up, ps. Default 0. */
  readonly convergencePs?: Time
}

/** The parts of a network, and what its user should know of them. */
export interface NativeParts {
  readonly parts: WorldParts
  readonly notes: ReadonlyArray<string>
}

/** What this world can tell a controller. */
const supplied: ReadonlyArray<Feedback> = ["rtt", "ecn", "int", "pint"]

/**
 * A simulated network in exact picoseconds: ideal NICs, seeded ECMP, strict priorities, telemetry that is not rounded.
 * What the controller needs is switched on; a note says what cannot be had.
 *
 * @throws NetworkOptionError, RcOptionsError, TransportInvalid, TopologyError, what `makeTransport` throws; `new World` of the parts throws BufferTooSmall and SwitchOptionError
 */
export const nativeParts = (options: NativeOptions): NativeParts => {
  checkOptions(options)
  const { graph, controller, seed = 0 } = options
  const { settings, make = options.makeTransport } = settingsOrFactory(options.transport ?? {})
  const ports = new Ports(graph)
  const routes = new Routes(graph, ports)
  const convergencePs = checkedConvergence(options.convergencePs)
  const faults =
    options.faults === undefined ? undefined : { events: checkedFaults(options.faults, graph), convergencePs }
  const hops = faults === undefined ? routes.maxHops : longestPath(graph, routes, faults)
  const other = make === undefined ? undefined : madeTransport(make, controller, Math.max(1, hops))
  const connection = nativeTransport(settings, controller, Math.max(1, hops))
  const telemetryRates = [...new Set(ports.rateBps)].sort((a, b) => a - b)
  const frames = other ?? connection
  const { discipline = "strict" } = options
  checkDiscipline(discipline, ports.count, frameBytesOf(frames))
  const wire = { dataBytes: frameBytesOf(frames), ackBytes: frames.framing.ackBytes }
  const delays = new ExactDelays(routes, ports, wire)
  let longest: Time | undefined
  const longestRttPs = (): Time => {
    longest ??= delays.maxima().rttPs
    return longest
  }
  const transport = other ?? rcFlows(patient(connection, settings, longestRttPs))
  const network: NetworkContext = { graph, ports, transport, controller, telemetryRates, longestRttPs, seed }
  const { switches = sharedBufferSwitches(), nics = readyListNics } = options
  return {
    parts: {
      graph,
      routes,
      transport,
      controller,
      makeSwitch: switchMaker(switches(network)),
      makeNic: nicMaker(nics(network)),
      path: pathsOf(network, delays, options.baseRtt ?? settings.baseRtt ?? "fabric"),
      choosePort: (source, destination, udpPorts, count) => murmur3(seed, source, destination, udpPorts) % count,
      serializationPs,
      discipline,
      telemetryFormat: exactTelemetry,
      telemetryRates,
      // An acknowledgement has its flow's priority, and waits as soon as any but the control queue is paused.
      controlPauseMask: 0xfe,
      startEvents: 0,
      local: switches.local === true && nics.local === true && transport.local === true && controller.shared !== true,
      seed,
      ...(options.kernel === undefined ? {} : { kernel: options.kernel }),
      ...(options.losses === undefined ? {} : { losses: options.losses }),
      ...(options.admission === undefined ? {} : { admission: options.admission }),
      ...(options.watchdog === undefined ? {} : { watchdog: options.watchdog }),
      ...(faults === undefined ? {} : { faults }),
    },
    notes: unmetNeeds(controller, transport),
  }
}

/** What a controller needs and goes without in a native network, a sentence for each. */
export const unmetNeeds = (
  { name, needs }: Pick<ControllerFactory, "name" | "needs">,
  transport: Pick<FlowTransport, "name" | "telemetry">,
): ReadonlyArray<string> => {
  const missing = needs.filter((need) => !supplied.includes(need))
  const uncarried = needs.includes("int") && !transport.telemetry
  return [
    ...missing.map((need) => `controller ${name} needs ${need}, which this network does not supply`),
    ...(uncarried ? [`controller ${name} needs int, which packets of ${transport.name} do not carry`] : []),
  ].map((note) => `${note}: it goes without`)
}

/** How long routes take to follow, ps. Throws `TopologyError` "delay" for what is no time. */
export const checkedConvergence = (convergencePs: Time = 0): Time => {
  if (Number.isSafeInteger(convergencePs) && convergencePs >= 0) return convergencePs
  const expected = "a whole number of picoseconds, at least 0"
  throw new TopologyError("delay", `convergencePs is ${convergencePs}: expected ${expected}`)
}

/** Base RTT and window, NIC rate times base RTT (HPCC §3.2: W_init = B_NIC · T). */
function pathsOf(network: NetworkContext, delays: ExactDelays, baseRtt: "fabric" | "pair"): WorldParts["path"] {
  const { transport, seed } = network
  const longest = baseRtt === "fabric" ? network.longestRttPs() : 0
  return (flow, source, destination, lineRateBps): PathInfo => {
    const baseRttPs = baseRtt === "fabric" ? longest : delays.pair(source, destination).rttPs
    return {
      lineRateBps,
      baseRttPs,
      windowBytes: Math.max(1, Math.floor((lineRateBps * baseRttPs) / 8e12)),
      mtuBytes: transport.mtuBytes,
      timeModulusPs: exactTelemetry.timeModulusPs,
      bytesModulus: exactTelemetry.bytesModulus,
      flow,
      seed,
    }
  }
}
