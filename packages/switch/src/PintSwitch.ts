import type { Packet } from "@rdmakit/packet"
import type { Switch, SwitchPorts, Time } from "@rdmakit/protocol"
import type { PintStamping } from "./PintStamper.ts"

export interface PintSwitchOptions {
  /** The switch that does all else. */
  readonly inner: Switch
  readonly ports: SwitchPorts
  /** The switch's own ports, as the network numbers them. */
  readonly portIds: ReadonlyArray<number>
  readonly stamper: PintStamping
  /** "eager" where the stamper's draws are shared with others, as in the ns-3 model. Default: as the inner switch. */
  readonly dequeue?: Switch["dequeue"]
}

/** Any switch, with PINT: every packet that leaves is shown to the stamper first. */
export class PintSwitch implements Switch {
  readonly dequeue: Switch["dequeue"]
  readonly perPacket: boolean
  readonly inner: Switch
  private readonly ports: SwitchPorts
  private readonly stamper: PintStamping

  constructor(options: PintSwitchOptions) {
    const { inner, ports } = options
    this.dequeue = options.dequeue ?? inner.dequeue
    this.perPacket = inner.perPacket
    this.inner = inner
    this.ports = ports
    this.stamper = options.stamper
    // A kernel must ask about every packet: none may pass unseen.
    for (const port of options.portIds) ports.leave(port, -1, -1)
  }

  route(now: Time, packet: Packet): number {
    return this.inner.route(now, packet)
  }

  admit(now: Time, packet: Packet, ingress: number, egress: number): number {
    return this.inner.admit(now, packet, ingress, egress)
  }

  dequeued(now: Time, packet: Packet, egress: number, queue: number): void {
    const { ports } = this
    // First, for a resume that the inner switch sends moves the cursor.
    this.stamper.stamp(now, packet, egress, ports.sentBytes(egress), ports.queueBytes(egress))
    this.inner.dequeued(now, packet, egress, queue)
  }
}
