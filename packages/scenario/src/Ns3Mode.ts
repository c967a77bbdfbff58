import { dcqcn } from "@rdmakit/cc-dcqcn"
import { dctcp } from "@rdmakit/cc-dctcp"
import { hpcc, hpccPint } from "@rdmakit/cc-hpcc"
import { timely } from "@rdmakit/cc-timely"
import type { FaultModel, WorldParts } from "@rdmakit/fabric"
import { RoundRobinNic } from "@rdmakit/nic"
import { intRatesBps, type Ns3Config } from "@rdmakit/ns3"
import { Ecn, int64Telemetry, PintCodec } from "@rdmakit/packet"
import { type ControllerFactory, type Feedback, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import {
  EcnMarker,
  type EcnThresholds,
  Ns3PintStamper,
  ns3Ecmp,
  ns3QueuePairHash,
  PintSwitch,
  type PortBuffer,
  SharedBuffer,
  SharedBufferSwitch,
  TelemetryStamper,
} from "@rdmakit/switch"
import type { Graph, Ports, Routes } from "@rdmakit/topology"
import { ns3Framing, type RcConfig, rcConfig, rcFlows, type TelemetryKind } from "@rdmakit/transport-ib"
import { GlibcRandom, ns3TxNanoseconds, StreamSequence } from "@rdmakit/units"
import { ns3HeadroomBytes } from "./Ns3Checks.ts"
import { FIRST_RUN, ns3Losses, ns3LossVariables, RNG_SEED } from "./Ns3Losses.ts"
import { withWideWindows } from "./Ns3WideWindow.ts"

/** The next hops of the HPCC simulator: as its search comes by them, one link between two nodes. */
export const ns3Routes = { order: "breadth-first", parallel: "last" } as const

const NS = 1000
/** NACKs for one gap come at most this often (RdmaHw, "NACK Generation Interval"). */
const NACK_INTERVAL_PS = 500e6
/** The threshold of a port at NIC rate is an eighth of the free buffer; each doubling of the rate doubles it. */
const NIC_RATE_SHIFT = 3
/** Priority whose pause holds a host's ACKs back: 3, or 0 with ACK_HIGH_PRIO. */
const ACK_QUEUE = 3

/** The code of each port's rate in IntHop; 0 for one that has none, which HPCC's configs are refused for. */
const rateCodes = (ports: Ports): Uint16Array =>
  Uint16Array.from(ports.rateBps, (rate) => Math.max(0, intRatesBps.indexOf(rate)))

/** ns-3's whole nanoseconds, in ps. */
const transmissionPs = (bytes: number, rateBps: number): Time => ns3TxNanoseconds(bytes, rateBps) * NS

/** What the controller of each CC_MODE needs in the packet. */
const telemetryKinds: Readonly<Record<number, TelemetryKind>> = { 3: "int", 7: "stamp", 10: "pint" }

/** The CC_MODE whose packets carry what a controller needs: INT, PINT, or a stamp for its RTT. */
export const ns3ModeFor = (needs: ReadonlyArray<Feedback>): Ns3Config["ccMode"] => {
  if (needs.includes("int")) return 3
  if (needs.includes("pint")) return 10
  return needs.includes("rtt") ? 7 : 1
}

/** @param random `rand()` of the run, which HPCC-PINT's hosts and switches share */
const controllerOf = (config: Ns3Config, random: GlibcRandom): ControllerFactory => {
  if (config.ccMode === 1) {
    return dcqcn({
      variant: "ns3",
      ewmaGain: config.ewmaGain,
      alphaResumeIntervalPs: config.alphaResumeIntervalPs,
      rateDecreaseIntervalPs: config.rateDecreaseIntervalPs,
      rpTimerPs: config.rpTimerPs,
      fastRecoveryTimes: config.fastRecoveryTimes,
      clampTargetRate: config.clampTargetRate,
      additiveIncreaseBps: config.rateAiBps,
      hyperIncreaseBps: config.rateHaiBps,
      minRateBps: config.minRateBps,
      window: windowOf(config),
    })
  }
  if (config.ccMode === 3) {
    return hpcc({
      variant: "ns3",
      eta: config.targetUtilisation,
      maxStage: config.miThreshold,
      additiveIncreaseBps: config.rateAiBps,
      minRateBps: config.minRateBps,
      reaction: config.fastReact ? "both" : "per-rtt",
      multiRate: config.multiRate,
      sampleFeedback: config.sampleFeedback,
      varWin: config.varWindow,
      unguarded: true,
    })
  }
  if (config.ccMode === 8) {
    return dctcp({
      variant: "ns3",
      g: config.ewmaGain,
      additiveIncreaseBps: config.dctcpRateAiBps,
      minRateBps: config.minRateBps,
      window: windowOf(config),
    })
  }
  if (config.ccMode === 10) {
    return hpccPint({
      variant: "ns3",
      eta: config.targetUtilisation,
      maxStage: config.miThreshold,
      additiveIncreaseBps: config.rateAiBps,
      minRateBps: config.minRateBps,
      varWin: config.varWindow,
      logBase: config.pintLogBase,
      probability: config.pintProbability,
      random,
    })
  }
  return timely({
    variant: "ns3",
    additiveIncreaseBps: config.rateAiBps,
    hyperIncreaseBps: config.rateHaiBps,
    minRateBps: config.minRateBps,
    window: windowOf(config),
  })
}

/** HAS_WIN and VAR_WIN. */
const windowOf = (config: Ns3Config): "none" | "fixed" | "variable" =>
  config.hasWindow ? (config.varWindow ? "variable" : "fixed") : "none"

/** Round trip and window of host pairs, as the simulator reckons them. */
export interface Ns3Paths {
  readonly maxRttNs: number
  readonly maxBdpBytes: number
  pair(source: number, destination: number): { readonly rttNs: number; readonly bdpBytes: number }
}

/** What else an ns-3 run has. */
export interface Ns3Extras {
  /** In place of that of CC_MODE. */
  readonly controller?: ControllerFactory | undefined
  /** Error rates of the topology's links, by link. Default: none has one. */
  readonly lossRates?: ReadonlyArray<number>
  /** Of the network, where they are known: `ns3Routes`. */
  readonly routes?: Routes
  /** Of the simulator's random numbers it is the run (RngRun), from its first on. Default 0: that first one, RngRun 1. */
  readonly seed?: number
}

/** Connections as the simulator has them. */
export const ns3Connections = (
  config: Ns3Config,
  graph: Graph,
  paths: Ns3Paths,
  controller: ControllerFactory,
): RcConfig => {
  const kind = telemetryKinds[config.ccMode] ?? "none"
  return rcConfig({
    mtuBytes: config.payloadBytes,
    framing: ns3Framing(kind),
    controller,
    telemetry: kind === "int",
    ackEvery: 1,
    ns3AckBytes: config.l2AckIntervalBytes,
    ns3AckChunkBytes: config.l2ChunkBytes,
    nakIntervalPs: NACK_INTERVAL_PS,
    ackDuplicates: false,
    ackTimeoutPs: tailLossTimeoutPs(config, graph, paths),
    retryCount: 7,
    ecn: Ecn.NotCapable,
    pacePs: transmissionPs,
    repace: config.ccMode === 3 || config.ccMode === 10,
    rateBound: config.rateBound,
    ns3BackToZero: config.l2BackToZero,
  })
}

/**
 * The parts of an ns-3 run: the variants that together are the semantics of the HPCC simulator (commit 9f4be2a), its
 * arithmetic in whole nanoseconds, its order of ties, its random streams.
 */
export function ns3Parts(config: Ns3Config, graph: Graph, paths: Ns3Paths, extras: Ns3Extras = {}): WorldParts {
  const { controller: own, lossRates = graph.links.map(() => 0), routes = ns3Routes, seed = 0 } = extras
  const isLost = ns3Losses(config, lossRates, seed)
  const random = new GlibcRandom()
  const simulated = (): ControllerFactory =>
    windowOf(config) === "variable" ? withWideWindows(controllerOf(config, random)) : controllerOf(config, random)
  const controller = own ?? simulated()
  return {
    graph,
    routes,
    // A controller of one's own is not to see what the simulator's may: more acknowledged than sent.
    transport: rcFlows({ ...ns3Connections(config, graph, paths, controller), ns3GoBack: own === undefined }),
    controller,
    makeSwitch: ns3Switches(config, graph, paths.maxRttNs, random, {
      variables: ns3LossVariables(lossRates),
      seed,
    }),
    makeNic: (options) => new RoundRobinNic(options),
    path: ns3PathInfo(config, paths, seed),
    choosePort: (source, destination, ports, count) => ns3QueuePairHash(source, destination, ports) % count,
    serializationPs: transmissionPs,
    discipline: "round-robin",
    ties: "insertion",
    telemetryFormat: int64Telemetry(config.intMulti),
    telemetryRates: intRatesBps,
    controlPauseMask: config.ackHighPriority ? 1 : 1 << ACK_QUEUE,
    startEvents: 2,
    answersLate: true,
    seed,
    ...(isLost === undefined ? {} : { isLost }),
    ...(config.linkDown === undefined ? {} : { faults: linkDown(config.linkDown, graph) }),
  }
}

/** LINK_DOWN is reckoned from here, ps. */
export const LINK_DOWN_FROM_PS = 2e12

/** TakeDownLink of third.cc. Of several links between two nodes the simulator knows the last. */
const linkDown = ({ afterPs, a, b }: NonNullable<Ns3Config["linkDown"]>, graph: Graph): FaultModel => ({
  events: [{ time: LINK_DOWN_FROM_PS + afterPs, link: linkBetween(graph, a, b), up: false }],
  asSimulated: true,
})

/** The last link between two nodes; -1 where there is none. */
export const linkBetween = ({ links }: Graph, a: number, b: number): number =>
  links.findLastIndex((link) => (link.a === a && link.b === b) || (link.a === b && link.b === a))

/**
 * When a lost tail is given up on. The simulator never does, so this must not fire while a packet may only be late:
 * never before several round trips and the time in which the slowest link drains a whole buffer. 0 switches it off.
 */
const tailLossTimeoutPs = (config: Ns3Config, graph: Graph, paths: Ns3Paths): Time => {
  // Going back to zero, a message may never end: it would be sent over and over.
  if (config.tailLossTimeoutPs === 0 || config.l2BackToZero) return NEVER
  const slowestBps = graph.links.reduce((least, { rateBps }) => Math.min(least, rateBps), Number.POSITIVE_INFINITY)
  const drainPs = (config.bufferBytes * 8e12) / slowestBps
  return Math.max(config.tailLossTimeoutPs, Math.ceil(4 * paths.maxRttNs * NS + drainPs))
}

const ns3PathInfo =
  (config: Ns3Config, paths: Ns3Paths, seed: number) =>
  (flow: number, source: number, destination: number, lineRateBps: number): PathInfo => {
    const { rttNs, bdpBytes } = config.globalT
      ? { rttNs: paths.maxRttNs, bdpBytes: paths.maxBdpBytes }
      : paths.pair(source, destination)
    const { timeModulusPs, bytesModulus } = int64Telemetry(config.intMulti)
    return {
      lineRateBps,
      baseRttPs: rttNs * NS,
      windowBytes: config.hasWindow ? bdpBytes : 0,
      mtuBytes: config.payloadBytes,
      timeModulusPs,
      bytesModulus,
      flow,
      seed,
    }
  }

/** One table of buffers, one marker, one stamper and one sequence of streams serve every switch of a run. */
function ns3Switches(
  config: Ns3Config,
  graph: Graph,
  maxRttNs: number,
  random: GlibcRandom,
  { variables, seed }: { readonly variables: number; readonly seed: number },
): WorldParts["makeSwitch"] {
  let shared:
    | { ecn: EcnMarker | undefined; stamper: TelemetryStamper | undefined; pint: Ns3PintStamper | undefined }
    | undefined
  return ({ node, kernel, ports, routes }) => {
    if (shared === undefined) {
      const streams = new StreamSequence(RNG_SEED, 6 * graph.nodes + 2 + variables, FIRST_RUN + seed)
      // Each frame draws an IP identification, whose value is unused, from a stream of its own.
      kernel.onPfcSent = () => streams.skip(1)
      shared = {
        ecn: config.ecnEnabled ? new EcnMarker(ports.count, ecnThresholds(config, graph, ports), streams) : undefined,
        stamper: config.ccMode === 3 ? new TelemetryStamper(rateCodes(ports)) : undefined,
        pint: config.ccMode === 10 ? pintStamper(config, ports, maxRttNs, random) : undefined,
      }
    }
    const buffer = new SharedBuffer(kernel, {
      bufferBytes: config.bufferBytes,
      lossless: true,
      ports: portBuffers(node, graph, ports),
    })
    const inner = new SharedBufferSwitch({
      node,
      ports: kernel,
      buffer,
      routes,
      balancer: ns3Ecmp,
      ecn: shared.ecn,
      marksAll: true,
      stamper: shared.stamper,
    })
    const { pint } = shared
    if (pint === undefined) return inner
    // Eager, for the draws are in the order of the network's events.
    return new PintSwitch({ inner, ports: kernel, portIds: [...ports.portsOf(node)], stamper: pint, dequeue: "eager" })
  }
}

const pintStamper = (config: Ns3Config, ports: Ports, maxRttNs: number, random: GlibcRandom): Ns3PintStamper =>
  new Ns3PintStamper({ rateBps: ports.rateBps, maxRttNs, codec: new PintCodec(config.pintLogBase), random })

/** The headroom of each port, and a threshold that grows with the port's rate. */
function portBuffers(node: number, graph: Graph, ports: Ports): Array<PortBuffer> {
  const nicRateBps = nicRate(graph, ports)
  return [...ports.portsOf(node)].map((port) => {
    const rateBps = ports.rateBps[port]!
    let thresholdShift = NIC_RATE_SHIFT
    for (let rate = rateBps; rate > nicRateBps && thresholdShift > 0; rate = Math.floor(rate / 2)) thresholdShift--
    return { port, headroomBytes: ns3HeadroomBytes(rateBps, ports.delayPs[port]!), thresholdShift }
  })
}

/** Rate of the first host's first port. */
function nicRate(graph: Graph, ports: Ports): number {
  const host = graph.isSwitch.indexOf(0)
  return ports.rateBps[ports.portsOf(host)[0]!]!
}

/** Thresholds by the rate of each switch port. The caller has checked that the maps name every rate. */
function ecnThresholds(config: Ns3Config, graph: Graph, ports: Ports): Array<EcnThresholds> {
  const thresholds: Array<EcnThresholds> = []
  for (let port = 0; port < ports.count; port++) {
    if (graph.isSwitch[ports.node[port]!] === 0) continue
    const rate = ports.rateBps[port]!
    thresholds.push({
      port,
      kminBytes: config.kminBytes.get(rate)!,
      kmaxBytes: config.kmaxBytes.get(rate)!,
      pmax: config.pmax.get(rate)!,
    })
  }
  return thresholds
}
