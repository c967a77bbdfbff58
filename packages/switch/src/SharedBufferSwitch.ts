import { Ecn, Flag, type Packet } from "@rdmakit/packet"
import { Drop, type LoadBalancer, type Switch, type SwitchPorts, type Time } from "@rdmakit/protocol"
import type { EcnMarker } from "./EcnMarker.ts"
import { checkedChoice } from "./LoadBalancerFault.ts"
import type { NextHops } from "./NextHops.ts"
import type { SharedBuffer } from "./SharedBuffer.ts"
import { SharedWays } from "./SharedWays.ts"
import { checkBalancer } from "./SwitchOptionError.ts"
import type { TelemetryStamper } from "./TelemetryStamper.ts"

export interface SharedBufferSwitchOptions {
  readonly node: number
  readonly ports: SwitchPorts
  readonly buffer: SharedBuffer
  readonly routes: NextHops
  readonly balancer: LoadBalancer
  /** Undefined: nothing is marked. */
  readonly ecn: EcnMarker | undefined
  /** True: mark every packet, ECN-capable or not, acknowledgements too (the ns-3 model). */
  readonly marksAll: boolean
  /** Undefined: nothing is stamped. */
  readonly stamper: TelemetryStamper | undefined
}

/** No queue holds more. */
const BYTES_MAX = 2 ** 31 - 1

/** A shared-buffer switch: load balancing, PFC, ECN marking and INT, each a part that can be left out or exchanged. */
export class SharedBufferSwitch implements Switch {
  readonly dequeue = "lazy" as const
  readonly perPacket: boolean
  readonly buffer: SharedBuffer
  private readonly node: number
  private readonly ports: SwitchPorts
  private readonly routes: NextHops
  private readonly balancer: LoadBalancer
  private readonly ecn: EcnMarker | undefined
  private readonly marksAll: boolean
  private readonly stamper: TelemetryStamper | undefined
  /** Where the balancer does not look at the place of the next hops. */
  private readonly ways: SharedWays | undefined

  /** @throws SwitchOptionError for what is no load balancer */
  constructor(options: SharedBufferSwitchOptions) {
    checkBalancer(options.balancer)
    this.node = options.node
    this.ports = options.ports
    this.buffer = options.buffer
    this.routes = options.routes
    this.balancer = options.balancer
    this.perPacket = options.balancer.perPacket ?? false
    this.ecn = options.ecn
    this.marksAll = options.marksAll
    this.stamper = options.stamper
    this.ways = options.balancer.byPacket === true ? new SharedWays(options.routes, options.node) : undefined
    for (const port of options.buffer.portIds) {
      options.ports.leave(port, options.ecn?.unmarkedBytes(port) ?? BYTES_MAX, options.stamper?.rateCode[port] ?? -1)
    }
  }

  /** @throws LoadBalancerFault */
  route(now: Time, packet: Packet): number {
    const { routes } = this
    const host = routes.hostIndex[packet.destination] ?? -1
    if (host < 0) return Drop.NoRoute
    if (this.ways !== undefined) return this.chosen(now, packet, this.ways, host)
    const at = this.node * routes.hosts.length + host
    const from = routes.start[at]!
    const count = routes.start[at + 1]! - from
    if (count === 0) return Drop.NoRoute
    if (count === 1) return routes.table[from]!
    const choice = checkedChoice(
      this.balancer.pick(now, packet, this.node, count, routes.table, from),
      count,
      this.node,
      now,
    )
    return routes.table[from + choice]!
  }

  private chosen(now: Time, packet: Packet, ways: SharedWays, host: number): number {
    const { table } = this.routes
    const set = ways.towards(host)
    const from = ways.from[set]!
    const count = ways.count[set]!
    if (count === 0) return Drop.NoRoute
    if (count === 1) return table[from]!
    const choice = checkedChoice(this.balancer.pick(now, packet, this.node, count, table, from), count, this.node, now)
    return table[from + choice]!
  }

  admit(now: Time, packet: Packet, ingress: number, egress: number): number {
    const queue = packet.priority
    if (queue === 0) return 0
    return this.buffer.admit(now, ingress, egress, queue, packet.wireBytes)
  }

  dequeued(now: Time, packet: Packet, egress: number, queue: number): void {
    const ingress = packet.ingressPort
    const { ports, ecn } = this
    const waiting = ports.queueBytes(egress)
    if (queue !== 0) {
      this.buffer.release(ingress, queue, packet.wireBytes)
      if (waiting > 0 && ecn !== undefined && ecn.marks(egress, ports.queueBytesOf(egress, queue))) this.mark(packet)
    }
    if (this.stamper !== undefined && packet.has(Flag.Telemetry)) {
      this.stamper.stamp(now, packet, egress, ports.sentBytes(egress), waiting, this.node)
    }
    // Last, for the frame it may send moves the cursor.
    if (queue !== 0) this.buffer.resumeIfDue(now, ingress, queue)
  }

  private mark(packet: Packet): void {
    if (this.marksAll || packet.ecn !== Ecn.NotCapable) packet.ecn = Ecn.Experienced
  }
}
