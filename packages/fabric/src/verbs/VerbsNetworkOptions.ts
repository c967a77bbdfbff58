import type { DeviceOptions } from "@rdmakit/device"
import type { HostNic, HostNicOptions } from "@rdmakit/nic"
import type { Packet } from "@rdmakit/packet"
import type { ControllerFactory, Time, VerbsCommand, VerbsEvent, VerbsTransport } from "@rdmakit/protocol"
import type { Graph } from "@rdmakit/topology"
import type { VerbsOptions } from "@rdmakit/transport-ib"
import type { Fault } from "../LinkFaults.ts"
import type { SwitchFactory } from "../Models.ts"
import type { WorldParts } from "../WorldParts.ts"

/** Told of a packet at a host: `outward` as it begins to leave, else when it has arrived. */
export type PacketObserver = (now: Time, node: number, packet: Packet, outward: boolean) => void

export interface VerbsNetworkOptions {
  readonly graph: Graph
  /** Of hashes, marks, faults, and of the devices' numbers and keys: a whole number of 32 bits, at least 0. Default 0. */
  readonly seed?: number
  /** Default `sharedBufferSwitches()`. */
  readonly switches?: SwitchFactory
  /** Congestion control of RC and UC. Default: none. */
  readonly controller?: ControllerFactory
  /** How queue pairs behave; the controller and the seed are those above. */
  readonly queuePairs?: Omit<VerbsOptions, "controller" | "seed">
  /** In place of `verbsTransport` with `queuePairs`. */
  readonly transport?: VerbsTransport
  /** Largest path MTU, 256 to 4,096. Default 4,096. */
  readonly mtuBytes?: number
  /** What controllers start from: the largest base RTT of any two hosts, the default, or of the path's own. */
  readonly baseRtt?: "fabric" | "pair"
  /** How switch ports choose among their queues. Default strict priorities. */
  readonly discipline?: WorldParts["discipline"]
  /** Default "fused". The results of both are the same. */
  readonly kernel?: WorldParts["kernel"]
  /** What happens to links and hosts, and when. */
  readonly faults?: ReadonlyArray<Fault>
  /** How long routes take to follow a link that goes down or comes up, ps. Default 0. */
  readonly convergencePs?: Time
  /** How the device of a host differs; by default that of host 3 is called rdmakit3, and has the limits of Linux's rxe. */
  readonly device?: (node: number) => DeviceOptions
  /** How a host chooses which queue pair sends. Default `ReadyListNic`. */
  readonly makeNic?: (options: HostNicOptions<VerbsCommand, VerbsEvent>) => HostNic<VerbsCommand, VerbsEvent>
  /** Sees each packet of a host; it must not keep the cursor, nor change anything. */
  readonly onPacket?: PacketObserver
}
