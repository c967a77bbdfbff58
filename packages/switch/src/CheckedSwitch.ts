import type { Packet } from "@rdmakit/packet"
import { type Switch, shown, type Time } from "@rdmakit/protocol"
import { PintSwitch } from "./PintSwitch.ts"
import { SharedBufferSwitch } from "./SharedBufferSwitch.ts"
import { SwitchFault } from "./SwitchFault.ts"

/** Drops are counted by minus their reason. */
const REASONS = 32
const QUEUES = 8
/** A message lists so many ports. */
const PORTS_SHOWN = 8

/**
 * The switch itself where it is one of this package's, whose parts are looked at where they are given; any other behind a
 * look at each thing that it says.
 *
 * @param portIds the switch's own ports, as the network numbers them
 */
export const checkedSwitch = (policy: Switch, node: number, portIds: ReadonlyArray<number>): Switch =>
  isOwn(policy) ? policy : new CheckedSwitch(policy, node, portIds)

const isOwn = (policy: Switch): boolean => {
  // A subclass may say anything.
  const kind: unknown = Object.getPrototypeOf(policy)
  return kind === SharedBufferSwitch.prototype || (kind === PintSwitch.prototype && isOwn((policy as PintSwitch).inner))
}

/** A switch of one's own: its routes are ports that it has, its queues those that ports have, or `Drop`s. */
class CheckedSwitch implements Switch {
  readonly dequeue: Switch["dequeue"]
  readonly perPacket: boolean
  private readonly inner: Switch
  private readonly node: number
  private readonly own: ReadonlySet<number>

  constructor(inner: Switch, node: number, portIds: ReadonlyArray<number>) {
    this.dequeue = inner.dequeue
    this.perPacket = inner.perPacket
    this.inner = inner
    this.node = node
    this.own = new Set(portIds)
  }

  /** @throws SwitchFault */
  route(now: Time, packet: Packet): number {
    const { handle } = packet
    const egress = this.inner.route(now, packet)
    if (this.own.has(egress) || isDrop(egress)) return egress
    const ports = [...this.own]
    const some = ports.length <= PORTS_SHOWN ? ports.join(", ") : `${ports.slice(0, PORTS_SHOWN).join(", ")}, …`
    return this.refuse("route", egress, `one of its ports (${some})`, now, packet.at(handle))
  }

  /** @throws SwitchFault */
  admit(now: Time, packet: Packet, ingress: number, egress: number): number {
    const { handle } = packet
    const queue = this.inner.admit(now, packet, ingress, egress)
    if ((queue >>> 0 === queue && queue < QUEUES) || isDrop(queue)) return queue
    return this.refuse("admit", queue, `a queue, 0 to ${QUEUES - 1}`, now, packet.at(handle))
  }

  dequeued(now: Time, packet: Packet, egress: number, queue: number): void {
    this.inner.dequeued(now, packet, egress, queue)
  }

  private refuse(asked: string, found: unknown, expected: string, now: Time, packet: Packet): never {
    const whose = `a packet from host ${packet.source} to host ${packet.destination}`
    const what = `its ${asked} gave ${shown(found)} for ${whose}, expected ${expected}, or a Drop, -1 to ${1 - REASONS}`
    throw new SwitchFault(what, this.node, now)
  }
}

const isDrop = (reason: number): boolean => Number.isInteger(reason) && reason < 0 && reason > -REASONS
