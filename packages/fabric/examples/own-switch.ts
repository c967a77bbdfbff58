import { timely, timelyPresets } from "@rdmakit/cc-timely"
import { Fabric, type SwitchContext, SwitchModel, simulateFlows, Topology } from "@rdmakit/fabric"
import type { Packet } from "@rdmakit/packet"
import { Drop, type Switch, type Time } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { star } from "@rdmakit/topology"
import { Effect, Layer } from "effect"

// A switch of one's own: each port holds so many bytes, and drops what comes on top.
class TailDrop implements Switch {
  readonly dequeue = "lazy"
  readonly perPacket = false
  private readonly context: SwitchContext
  private readonly portBytesMax: number

  constructor(context: SwitchContext, portBytesMax: number) {
    this.context = context
    this.portBytesMax = portBytesMax
  }

  // The same way for all packets of a flow.
  route(_now: Time, packet: Packet): number {
    const { routes, node } = this.context
    const ways = routes.nextHopCount(node, packet.destination)
    return ways === 0 ? Drop.NoRoute : routes.nextHop(node, packet.destination, packet.flow % ways)
  }

  // A packet's priority is its queue.
  admit(_now: Time, packet: Packet, _ingress: number, egress: number): number {
    const bytes = this.context.kernel.queueBytes(egress) + packet.wireBytes
    return bytes > this.portBytesMax ? Drop.EgressFull : packet.priority
  }

  // Marks and telemetry would be written here.
  dequeued(): void {}
}

// The outer function is called once for a network, the inner one for each of its switches.
const tailDrop = Layer.succeed(SwitchModel, () => (context) => new TailDrop(context, 400_000))

const network = Fabric.layer.pipe(
  Layer.provide(tailDrop),
  Layer.provide(Layer.succeed(CongestionControl, timely(timelyPresets.simulation))),
  Layer.provide(Layer.succeed(Topology, star(5, { rate: "100Gbps", delay: "1us" }))),
)

const incast = Array.from({ length: 4 }, (_, source) => ({ source, destination: 4, size: "200kB" }))

export const outcome = await Effect.runPromise(Effect.provide(simulateFlows(incast), network))

console.log(`${outcome.flowsFinished} flows finished, dropped: ${JSON.stringify(outcome.dropsByReason)}`)
