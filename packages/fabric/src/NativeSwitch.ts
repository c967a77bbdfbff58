import { PintCodec } from "@rdmakit/packet"
import type { SwitchPorts } from "@rdmakit/protocol"
import {
  EcnMarker,
  type EcnThresholds,
  HashedDraws,
  PintStamper,
  PintSwitch,
  type PortBuffer,
  SharedBuffer,
  type SharedBufferOptions,
  SharedBufferSwitch,
  TelemetryStamper,
  type Threshold,
  ThresholdBuffer,
} from "@rdmakit/switch"
import type { Graph, Ports } from "@rdmakit/topology"
import { mulDivFloor } from "@rdmakit/units"
import { type BalancerSettings, loadBalancer } from "./LoadBalancers.ts"
import { type FrameSizes, frameBytesOf, type NetworkContext, oncePerKernel, type SwitchFactory } from "./Models.ts"
import { checkSwitchSettings } from "./SwitchSettingsChecks.ts"
import type { MakeSwitch } from "./WorldParts.ts"

/** Marking of the ports of one rate: none up to kmin, rising to pmax at kmax, all above. */
export interface EcnRule {
  /** Bytes waiting in the egress queue. At least 0, at most `kmaxBytes`; equal to it: a step, or with Infinity no marks. */
  readonly kminBytes: number
  readonly kmaxBytes: number
  /** Marking probability at kmax, 0 to 1. */
  readonly pmax: number
}

/** What the switches of a network are set to. Every field has a default. */
export interface SwitchSettings extends BalancerSettings {
  /** Shared buffer of each switch, bytes; whole, below 2^31. Default 32 MiB (HPCC §5.1). */
  readonly bufferBytes?: number
  /** Lossless, the default: PFC with headroom. Lossy: no pauses, an egress queue above the free buffer drops. */
  readonly lossless?: boolean
  /** Headroom of every port, whole bytes for each priority. Default `headroomBytes` of the port's link and `responseBytes`. */
  readonly headroomBytes?: number
  /** Bytes each ingress (port, priority) may hold outside the shared pool; whole. Default 4,096. */
  readonly reserveBytes?: number
  /** A resume waits until usage is this far below the threshold, whole bytes. Default 3,072. */
  readonly resumeOffsetBytes?: number
  /**
   * How much of the shared pool a queue may hold: of a lossless switch the ingress (port, priority) that is paused there,
   * of a lossy one the egress queue that drops above it. Default: lossless, an eighth of what is free at the slowest
   * host's rate and twice that for each doubling; lossy, all that is free.
   */
  readonly threshold?: Threshold
  /**
   * Whether queues mark. Default: when the controller needs "ecn" or "cnp". Marking is RED by the egress queue's length
   * at dequeue (DCQCN §3.1), with `ecnRule` of the port's rate.
   */
  readonly ecn?: boolean
  /** Thresholds of the ports of a rate (bit/s), in place of the rule. */
  readonly ecnRules?: ReadonlyMap<number, EcnRule>
}

const BUFFER_BYTES = 32 * 1024 * 1024
const RESERVE_BYTES = 4096
/** The threshold of a port at NIC rate is an eighth of the free buffer; each doubling of the rate doubles it. */
const NIC_RATE_SHIFT = 3

/**
 * Bytes that still come after a pause was decided on: what is on the wire both ways while the pause travels, and a frame
 * at either end that had begun. 100 Gb/s, 1 µs, frames of 1,048 B: 27,096 B.
 *
 * @param frameBytes the largest frame
 */
export const headroomBytes = (rateBps: number, delayPs: number, frameBytes: number): number =>
  mulDivFloor(2 * delayPs, Math.ceil(rateBps), 8e12) + 2 * frameBytes

/**
 * What comes on top of `headroomBytes` until nothing can be lost: the frame whose arrival brings the pause about lies in
 * the headroom already, and the pause frame has a length of its own.
 */
const responseBytes = (transport: FrameSizes): number => frameBytesOf(transport) + transport.framing.pfcBytes

/** Kmin = 100 KB and Kmax = 400 KB at 25 Gb/s, in proportion to the rate; Pmax = 0.2 (HPCC §5.1, DCQCN's setting there). */
export const ecnRule = (rateBps: number): EcnRule => ({
  kminBytes: Math.round((100e3 * rateBps) / 25e9),
  kmaxBytes: Math.round((400e3 * rateBps) / 25e9),
  pmax: 0.2,
})

/** What a lossless switch keeps out of the shared pool. */
export interface BufferDemand {
  readonly node: number
  readonly headroomBytes: number
  readonly reserveBytes: number
}

/** The switch that needs the most buffer beside the shared pool; undefined in a network without switches. */
export const bufferDemand = (
  graph: Graph,
  ports: Ports,
  settings: SwitchSettings,
  transport: FrameSizes,
): BufferDemand | undefined => {
  let worst: BufferDemand | undefined
  const total = (demand: BufferDemand): number => demand.headroomBytes + demand.reserveBytes
  for (let node = 0; node < graph.nodes; node++) {
    if (graph.isSwitch[node] === 0) continue
    const own = [...ports.portsOf(node)]
    const demand = {
      node,
      headroomBytes:
        settings.lossless === false ? 0 : own.reduce((sum, p) => sum + kept(ports, p, settings, transport), 0),
      reserveBytes: own.length * (settings.reserveBytes ?? RESERVE_BYTES),
    }
    if (worst === undefined || total(demand) > total(worst)) worst = demand
  }
  return worst
}

/** What can still come to a port of a switch once it has decided on a pause, bytes: with that much, nothing is lost. */
export const portHeadroomBytes = (ports: Ports, port: number, transport: FrameSizes): number =>
  headroomBytes(ports.rateBps[port]!, ports.delayPs[port]!, frameBytesOf(transport)) + responseBytes(transport)

const kept = (ports: Ports, port: number, settings: SwitchSettings, transport: FrameSizes): number =>
  settings.headroomBytes ?? portHeadroomBytes(ports, port, transport)

/**
 * Shared-buffer switches: ECMP by a hash seeded for each switch or what the settings name or make, PFC, RED marking, INT and PINT, the last three where the
 * controller needs them. The world that is made with it throws `BufferTooSmall` where the headroom does not fit,
 * and `NetworkOptionError` or `SwitchOptionError` for a setting that is none.
 */
export const sharedBufferSwitches = (settings: SwitchSettings = {}): SwitchFactory =>
  // A load balancer of one's own chooses for all switches, and may know of one what it saw at another.
  Object.assign(switchesOf(settings), { local: typeof settings?.loadBalancer !== "function" })

const switchesOf =
  (settings: SwitchSettings) =>
  (network: NetworkContext): MakeSwitch => {
    checkSwitchSettings(settings)
    const { graph, ports, transport, controller, telemetryRates, longestRttPs, seed } = network
    const slowest = slowestHostRate(graph, ports)
    const { count } = ports
    const marking = settings.ecn ?? controller.needs.some((need) => need === "ecn" || need === "cnp")
    const shared = oncePerKernel((ports: SwitchPorts) => ({
      balancer: loadBalancer(settings, seed, ports),
      ecn: marking
        ? new EcnMarker(count, thresholdsOf(network, settings), new HashedDraws(seed ^ ECN_STREAM, count))
        : undefined,
      stamper: transport.telemetry
        ? new TelemetryStamper(
            Uint16Array.from(network.ports.rateBps, (rate) => Math.max(0, telemetryRates.indexOf(rate))),
          )
        : undefined,
    }))
    const pint = oncePerKernel(() =>
      controller.needs.includes("pint")
        ? new PintStamper({
            rateBps: ports.rateBps,
            baseRttPs: Math.max(1, longestRttPs()),
            codec: new PintCodec(controller.pintBase ?? PINT_BASE),
            seed: seed ^ PINT_STREAM,
          })
        : undefined,
    )
    return ({ node, kernel, routes }) => {
      const portIds = [...ports.portsOf(node)]
      const options: SharedBufferOptions = {
        bufferBytes: settings.bufferBytes ?? BUFFER_BYTES,
        reserveBytes: settings.reserveBytes ?? RESERVE_BYTES,
        ...(settings.resumeOffsetBytes === undefined ? {} : { resumeOffsetBytes: settings.resumeOffsetBytes }),
        lossless: settings.lossless ?? true,
        ports: portIds.map(
          (port): PortBuffer => ({
            port,
            headroomBytes: kept(ports, port, settings, transport),
            thresholdShift: thresholdShift(ports.rateBps[port]!, slowest),
          }),
        ),
      }
      const { threshold } = settings
      const inner = new SharedBufferSwitch({
        node,
        ports: kernel,
        buffer:
          threshold === undefined
            ? new SharedBuffer(kernel, options)
            : new ThresholdBuffer(kernel, { ...options, threshold }),
        routes,
        ...shared(kernel),
        marksAll: false,
      })
      const stamper = pint(kernel)
      return stamper === undefined ? inner : new PintSwitch({ inner, ports: kernel, portIds, stamper })
    }
  }

/** Keep draws for marking and for PINT apart from those for losses, which have the same seed and port. */
const ECN_STREAM = 0x0ec40000
const PINT_STREAM = 0x50490000
/** Of a controller that names none. */
const PINT_BASE = 1.05

const thresholdShift = (rateBps: number, slowestBps: number): number => {
  let shift = NIC_RATE_SHIFT
  for (let rate = rateBps; rate > slowestBps && shift > 0; rate /= 2) shift--
  return shift
}

/** The NIC rate: of the slowest host port. */
function slowestHostRate(graph: Graph, ports: Ports): number {
  let slowest = Number.POSITIVE_INFINITY
  for (let port = 0; port < ports.count; port++) {
    if (graph.isSwitch[ports.node[port]!] === 0) slowest = Math.min(slowest, ports.rateBps[port]!)
  }
  return slowest
}

const thresholdsOf = ({ graph, ports }: NetworkContext, { ecnRules }: SwitchSettings): Array<EcnThresholds> => {
  const thresholds: Array<EcnThresholds> = []
  for (let port = 0; port < ports.count; port++) {
    if (graph.isSwitch[ports.node[port]!] === 0) continue
    const rate = ports.rateBps[port]!
    thresholds.push({ port, ...(ecnRules?.get(rate) ?? ecnRule(rate)) })
  }
  return thresholds
}
