import type { Packet } from "@rdmakit/packet"
import { Drop, type Switch, type SwitchPorts, type Time } from "@rdmakit/protocol"

export interface WatchdogSwitchOptions {
  /** The switch that does all else. */
  readonly inner: Switch
  readonly ports: SwitchPorts
  /** The switch's own ports, as the network numbers them. */
  readonly portIds: ReadonlyArray<number>
  /** By port of the network: the priorities that are dropped there, a bit each. A watchdog sets and clears them. */
  readonly dropping: Uint8Array
}

/**
 * Any switch, with what a PFC watchdog's action "drop" does to it: packets that come by a port, or are to leave by it, in
 * a priority that is dropped there do not get in (SONiC, PFC watchdog).
 */
export class WatchdogSwitch implements Switch {
  readonly dequeue: Switch["dequeue"]
  readonly perPacket: boolean
  private readonly inner: Switch
  private readonly dropping: Uint8Array

  constructor(options: WatchdogSwitchOptions) {
    const { inner, ports } = options
    this.dequeue = inner.dequeue
    this.perPacket = inner.perPacket
    this.inner = inner
    this.dropping = options.dropping
    // A kernel must ask about every packet: none may pass unseen.
    for (const port of options.portIds) ports.leave(port, -1, -1)
  }

  route(now: Time, packet: Packet): number {
    return this.inner.route(now, packet)
  }

  admit(now: Time, packet: Packet, ingress: number, egress: number): number {
    const mask = this.dropping[ingress]! | this.dropping[egress]!
    if (((mask >> packet.priority) & 1) !== 0) return Drop.Watchdog
    return this.inner.admit(now, packet, ingress, egress)
  }

  dequeued(now: Time, packet: Packet, egress: number, queue: number): void {
    this.inner.dequeued(now, packet, egress, queue)
  }
}
