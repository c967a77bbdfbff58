import { type HostNicOptions, ReadyListNic } from "@rdmakit/nic"
import type { ControllerFactory, FlowCommand, FlowEvent, FlowTransport, SwitchPorts, Time } from "@rdmakit/protocol"
import type { Graph, Ports } from "@rdmakit/topology"
import type { MakeNic, MakeSwitch } from "./WorldParts.ts"

/** What the packets of a network are like. */
export type FrameSizes = Pick<FlowTransport, "mtuBytes" | "framing" | "telemetry">

/** What a model of switches or NICs is told of the network it is for. */
export interface NetworkContext {
  readonly graph: Graph
  readonly ports: Ports
  readonly transport: FrameSizes
  readonly controller: ControllerFactory
  /** Rates that telemetry can name, bit/s: a port's rate code is its rate's index here. */
  readonly telemetryRates: ReadonlyArray<number>
  /** The largest base RTT of any two hosts, ps; reckoned when it is asked for. */
  readonly longestRttPs: () => Time
  readonly seed: number
}

/**
 * A transport for a network's flows: called once for a network. Give the transport the controller that the network has, or
 * its flows are controlled by another.
 *
 * @param hops switches on the longest path, at least 1
 */
export type TransportFactory = (controller: ControllerFactory, hops: number) => FlowTransport

/** A model of a network's switches: called once for a network, what it gives once for each switch. */
export interface SwitchFactory {
  (network: NetworkContext): MakeSwitch
  /** Switches look at nothing but their own ports and what has come there: local, as `FlowTransport` has it. */
  readonly local?: boolean
}

/** A model of a network's NICs: called once for a network, what it gives once for all hosts. */
export interface NicFactory {
  (network: NetworkContext): MakeNic
  /** What a host's NIC does depends on nothing of other hosts: local, as `FlowTransport` has it. */
  readonly local?: boolean
}

/** The ideal NIC: no cost, a list of queue pairs that may send, a heap of those that are paced. */
export const readyListNics: NicFactory = Object.assign(
  () => (options: HostNicOptions<FlowCommand, FlowEvent>) => new ReadyListNic(options),
  { local: true },
)

/** The largest data packet on the wire, bytes. */
export const frameBytesOf = ({ mtuBytes, framing }: FrameSizes): number =>
  Math.max(framing.leastBytes, mtuBytes + framing.dataBytes + framing.telemetryBytes)

/** Values made once for each kernel and shared by its switches. */
export const oncePerKernel = <A>(make: (ports: SwitchPorts) => A): ((ports: SwitchPorts) => A) => {
  let last: { readonly ports: SwitchPorts; readonly value: A } | undefined
  return (ports) => {
    if (last?.ports !== ports) last = { ports, value: make(ports) }
    return last.value
  }
}
