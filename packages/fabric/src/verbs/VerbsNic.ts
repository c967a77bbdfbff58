import type { HostNic } from "@rdmakit/nic"
import { Layout, Packet } from "@rdmakit/packet"
import type { Nic, Time, VerbsCommand, VerbsEvent } from "@rdmakit/protocol"
import type { ExactKernel } from "@rdmakit/sim"
import type { Paths } from "./Paths.ts"
import type { VerbsEndpoint } from "./VerbsEndpoint.ts"

const { EXT, EXTENSION_SHIFT } = Layout
/** Packets to a multicast group (IBTA 1.7 §3.5.3). */
const MULTICAST_QPN = 0xffffff
/** Number of the program's alarm among the timers of an endpoint: below the NIC's own, above those of controllers. */
const ALARM = 14
/** The endpoint that the alarm belongs to. */
export const NOBODY = 0

export interface VerbsNicOptions {
  readonly kernel: ExactKernel
  /** Chooses which queue pair sends. */
  readonly scheduler: HostNic<VerbsCommand, VerbsEvent>
  /** Of the scheduler, looked at if it is one of one's own. */
  readonly pull: Nic["pull"]
  readonly paths: Paths
  /** The queue pairs that an arriving packet is for. */
  readonly receivers: (node: number, packet: Packet, multicast: boolean) => ReadonlyArray<VerbsEndpoint>
  /** Hosts that a group's packets go to, by its number. */
  readonly members: (group: number) => Iterable<number>
  readonly nodeOf: (port: number) => number
  /** Sees each packet of a host as it arrives, or leaves; it must not keep the cursor. */
  readonly onPacket: (now: Time, port: number, packet: Packet, outward: boolean) => void
}

/**
 * The NICs of all hosts of a network of devices. Who sends next is the scheduler's to choose; this one brings arriving
 * packets to their queue pairs, and packets that leave to the port that their own path wants: a datagram's need not be its
 * queue pair's. A packet to a group leaves as one copy for each host that has joined it.
 */
export class VerbsNic implements Nic {
  /** Packets for queue pairs that do not exist. */
  unclaimed = 0
  onAlarm: (now: Time) => void = () => {}
  private readonly options: VerbsNicOptions
  private readonly cursor: Packet
  private readonly copy: Packet
  /** Packets that wait at a port, taken from the scheduler already; by port. */
  private readonly waiting = new Map<number, Array<number>>()

  constructor(options: VerbsNicOptions) {
    this.options = options
    this.cursor = new Packet(options.kernel.pool)
    this.copy = new Packet(options.kernel.pool)
  }

  receive(now: Time, packet: Packet, port: number): void {
    const { kernel, scheduler, receivers, nodeOf, onPacket } = this.options
    const { handle } = packet
    onPacket(now, port, packet, false)
    const endpoints = receivers(nodeOf(port), packet, isMulticast(packet))
    if (endpoints.length === 0) this.unclaimed++
    for (const endpoint of endpoints) endpoint.handlePacket(now, this.cursor.at(handle))
    kernel.pool.release(handle)
    for (const endpoint of endpoints) scheduler.add(now, endpoint)
  }

  pull(now: Time, port: number, paused: number): number {
    for (;;) {
      const first = this.next(port, paused)
      if (first >= 0) return this.leave(now, port, first)
      const handle = this.options.pull(now, port, paused)
      if (handle < 0) return -1
      if (this.place(now, port, handle, paused)) return this.leave(now, port, handle)
    }
  }

  quiet(port: number): boolean {
    return (this.waiting.get(port)?.length ?? 0) === 0 && this.options.scheduler.quiet(port)
  }

  timer(now: Time, endpoint: number, timer: number): void {
    if (endpoint === NOBODY) this.onAlarm(now)
    else this.options.scheduler.timer(now, endpoint, timer)
  }

  /** The program's alarm, in place of the one that was asked for before, if any; its event. */
  alarmAt(node: number, time: Time): number {
    return this.options.kernel.timerAt(node, NOBODY, ALARM, time)
  }

  /** The link of a port went down: what waits there is lost. */
  dropWaiting(port: number): void {
    const { kernel, scheduler } = this.options
    scheduler.dropControl(port)
    for (const handle of this.waiting.get(port) ?? []) kernel.pool.release(handle)
    this.waiting.delete(port)
  }

  private leave(now: Time, port: number, handle: number): number {
    this.options.onPacket(now, port, this.cursor.at(handle), true)
    return handle
  }

  /** The first that waits at a port, taken out; -1: none, or its priority is paused. */
  private next(port: number, paused: number): number {
    const list = this.waiting.get(port)
    if (list === undefined || list.length === 0 || this.isPaused(list[0]!, paused)) return -1
    return list.shift()!
  }

  private isPaused(handle: number, paused: number): boolean {
    return (((paused & ~1) >> this.cursor.at(handle).priority) & 1) !== 0
  }

  /** True: a packet that was pulled may leave here and now. Otherwise it waits, where it belongs. */
  private place(now: Time, port: number, handle: number, paused: number): boolean {
    const { paths } = this.options
    const { flow } = this.cursor.at(handle)
    const group = paths.groupOf(flow)
    if (group >= 0) {
      this.spread(now, handle, group, paths.sourcePortOf(flow))
      return false
    }
    const to = paths.portOf(flow)
    if (to === port && !this.isPaused(handle, paused)) return true
    this.append(now, to, handle)
    return false
  }

  private append(now: Time, port: number, handle: number): void {
    const { kernel } = this.options
    const list = this.waiting.get(port)
    if (list === undefined) this.waiting.set(port, [handle])
    else list.push(handle)
    // It may be another port than the one that is looked after now: that one has its turn by itself.
    if (kernel.wakeTime(port) > now) kernel.wakeAt(port, now)
  }

  /** One copy for each host of a group, the sender among them if it has joined. */
  private spread(now: Time, handle: number, group: number, udpSourcePort: number): void {
    const { kernel, paths, members } = this.options
    const { source } = this.cursor.at(handle)
    for (const member of members(group)) {
      const packet = this.copy.at(kernel.pool.duplicate(handle))
      packet.setNodes(source, member)
      packet.flow = paths.to(source, member, udpSourcePort)
      this.append(now, paths.portOf(packet.flow), packet.handle)
    }
    kernel.pool.release(handle)
  }
}

/** What a packet says of its destination queue pair. */
const isMulticast = (packet: Packet): boolean => {
  const at = packet.extension
  return at >= 0 && packet.pool.extension[(at << EXTENSION_SHIFT) + EXT.destinationQp] === MULTICAST_QPN
}
