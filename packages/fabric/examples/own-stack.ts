import { tcp } from "@rdmakit/cc-cubic"
import {
  Fabric,
  flowInputs,
  NicModel,
  SwitchModel,
  sharedBufferSwitches,
  simulateFlows,
  Topology,
  Transport,
} from "@rdmakit/fabric"
import { RoundRobinNic } from "@rdmakit/nic"
import type { Packet } from "@rdmakit/packet"
import type { LoadBalancer, SwitchPorts, Time } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { leafSpine } from "@rdmakit/topology"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { murmur3 } from "@rdmakit/units"
import { fixedSize, permutationFlows } from "@rdmakit/workload"
import { Effect, Layer } from "effect"

// A load balancer of one's own: of two next hops that a hash draws for each packet, the one whose queue is shorter.
class TwoChoices implements LoadBalancer {
  readonly perPacket = true
  private readonly seed: number
  private readonly ports: SwitchPorts

  constructor(seed: number, ports: SwitchPorts) {
    this.seed = seed
    this.ports = ports
  }

  pick(_now: Time, packet: Packet, node: number, count: number, table: Int32Array, from: number): number {
    const draw = murmur3(this.seed, node, packet.flow, packet.psn)
    const one = draw % count
    const other = (draw >>> 16) % count
    const bytes = (way: number): number => this.ports.queueBytes(table[from + way]!)
    return bytes(one) <= bytes(other) ? one : other
  }
}

// CUBIC over TCP, lossy switches that balance by it, and the hosts' NICs: each part is a layer that is provided.
const network = Fabric.layer.pipe(
  Layer.provide(Layer.succeed(Topology, leafSpine({ leaves: 4, spines: 4, hostsPerLeaf: 4 }))),
  Layer.provide(Layer.succeed(CongestionControl, tcp({ variant: "cubic" }))),
  Layer.provide(Layer.succeed(Transport, (controller) => tcpFlows(tcpConfig({ controller })))),
  Layer.provide(
    Layer.succeed(
      SwitchModel,
      sharedBufferSwitches({ lossless: false, loadBalancer: (seed, ports) => new TwoChoices(seed, ports) }),
    ),
  ),
  // Or a scheduler of one's own, a subclass of HostNic.
  Layer.provide(Layer.succeed(NicModel, () => (options) => new RoundRobinNic(options))),
)

// Every host sends a megabyte to another one, and gets one.
const hosts = Array.from({ length: 16 }, (_, host) => host)
const workload = permutationFlows({ hosts, sizes: fixedSize(1e6), seed: 1 })

export const outcome = await Effect.runPromise(
  Effect.provide(simulateFlows(flowInputs(workload), { seed: 5 }), network),
)

console.log(`${outcome.flowsFinished} flows, ${outcome.retransmissions} packets sent again, digest ${outcome.digest}`)
