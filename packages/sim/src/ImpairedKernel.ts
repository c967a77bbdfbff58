import { Opcode, type Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { FaultyKernel } from "./FaultyKernel.ts"
import { BlackHole, LinkCorruption, LinkDown, LinkLoss, ReceiverOverflow } from "./FrameLosses.ts"
import { ImpairedLink, type Impairment } from "./Impairment.ts"
import * as P from "./PortTable.ts"
import { type ReceiverLimit, SlowReceiver } from "./SlowReceiver.ts"

/** In place of a reason for a drop: the frame comes later. */
const HELD_UP = -32

/** A frame on its way outside of the order of its link. */
interface Straggler {
  /** -1: the place is free. */
  handle: number
  from: number
}

/**
 * The kernel of links that do more than lose frames: they damage, repeat, delay and reorder them, or swallow those of some
 * flows, each direction by chances of its own that may change during the run. PFC frames are let through. And of hosts
 * that take packets slowly.
 *
 * A frame that is late leaves its link's order, and comes by a call of `arriveLate` at its time: the world makes one for
 * each that `onLate` tells of.
 *
 * A host that is slow asks in the same way, by `onSlow`, for calls of `takeSlowly`.
 *
 * A host whose link is down goes on sending, and what it sends is lost at its port: so its timers run, and its retries end.
 */
export class ImpairedKernel extends FaultyKernel {
  /** A frame is held up, or doubled: `arriveLate(place)` is to be called at `time`. */
  onLate: (time: Time, place: number) => void = () => {}
  /** A slow host will have taken a packet: `takeSlowly(node)` is to be called at `time`. */
  onSlow: (time: Time, node: number) => void = () => {}
  private readonly seed: number
  private readonly links = new Map<number, ImpairedLink>()
  private readonly stragglers: Array<Straggler> = []
  private readonly free: Array<number> = []
  private readonly receivers = new Map<number, SlowReceiver>()
  private readonly serializationPs: ExactKernelOptions["serializationPs"]

  constructor(options: ExactKernelOptions) {
    super(options)
    this.seed = options.seed ?? 0
    this.serializationPs = options.serializationPs
    const { transmit } = this
    this.transmit = (port, base) => {
      if (this.nodeOf[port]! < 0 && this.ports[base | P.OCCUPIED] !== 0) {
        this.sendQueuedPfc(port, base)
        return
      }
      transmit(port, base)
      if (!this.isUp(port) && this.nodeOf[port]! < 0) this.lose(port, base)
    }
  }

  override takeDown(...[link, quietly, onQueued]: Parameters<FaultyKernel["takeDown"]>): void {
    super.takeDown(link, quietly, onQueued)
    for (const port of [2 * link, 2 * link + 1]) {
      // A host's port does not look busy: it is asked when there is something to send.
      if (this.nodeOf[port]! < 0 && this.ending[port] === 0)
        this.ports[(port << P.PORT_SHIFT) | P.STATE]! &= ~P.BUSY_MASK
      this.receivers.get(~this.nodeOf[port]!)?.forgetPauses(port)
    }
  }

  /** Drops what a host would send by a port whose link is down. */
  private lose(port: number, base: number): void {
    this.ports[base | P.STATE]! &= ~P.BUSY_MASK
    const node = ~this.nodeOf[port]!
    const nic = this.nics[node]!
    for (let handle = nic.pull(this.time, port, 0); handle >= 0; handle = nic.pull(this.time, port, 0)) {
      this.drop(this.packet.at(handle), node, LinkDown)
    }
  }

  /** What happens to frames from a port from now on; undefined: nothing. Its draws go on where they were. */
  impair(port: number, impairment: Impairment | undefined): void {
    const link = this.links.get(port)
    if (link !== undefined) link.impairment = impairment ?? {}
    else if (impairment !== undefined) this.links.set(port, new ImpairedLink(this.seed, port, impairment))
  }

  /** From now on a host takes no more than this of what arrives; undefined: all of it at once. */
  limitReceiver(node: number, limit: ReceiverLimit | undefined): void {
    let receiver = this.receivers.get(node)
    if (receiver === undefined) {
      receiver = new SlowReceiver({
        pool: this.pool,
        nic: this.nics[node]!,
        serializationPs: this.serializationPs,
        wakeAt: (time) => this.onSlow(time, node),
        overflow: (packet) => this.drop(packet, node, ReceiverOverflow),
        sendPfc: (now, port, priority, pause) => this.sendHostPfc(now, port, priority, pause),
      })
      this.receivers.set(node, receiver)
      this.nics[node] = receiver
    }
    receiver.limitTo(this.time, limit)
  }

  /** The time of an `onSlow` has come. */
  takeSlowly(node: number): void {
    this.receivers.get(node)!.take(this.time)
  }

  private sendHostPfc(now: Time, port: number, priority: number, pause: boolean): void {
    if (!this.isUp(port)) return
    this.queues.append(port, 0, this.pfcFrame(now, port, priority, pause))
    this.kickNow(port)
  }

  private sendQueuedPfc(port: number, base: number): void {
    this.ports[base | P.STATE]! &= ~P.BUSY_MASK
    const handle = this.queues.dequeue(port, 0)
    this.tracer?.dequeued(this.time, port, 0, this.packet.at(handle))
    this.start(port, base, handle, true)
  }

  /** Frames held up now. */
  get stragglerCount(): number {
    return this.stragglers.length - this.free.length
  }

  /** The time of a frame that was late has come. */
  arriveLate(place: number): void {
    const straggler = this.stragglers[place]!
    const { handle, from } = straggler
    straggler.handle = -1
    this.free.push(place)
    const packet = this.packet.at(handle)
    const node = this.ports[(from << P.PORT_SHIFT) | P.PEER]!
    if (!this.isUp(from)) {
      super.drop(packet, node < 0 ? ~node : node, LinkDown)
      return
    }
    const port = from ^ 1
    this.tracer?.received(this.time, port, packet)
    if (node >= 0) this.forward(node, port, packet)
    else this.nics[~node]!.receive(this.time, packet, port)
  }

  protected override lossOf(from: number, packet: Packet): number {
    const reason = super.lossOf(from, packet)
    if (reason !== 0 || packet.opcode === Opcode.Pfc) return reason
    const link = this.links.get(from)
    if (link === undefined) return 0
    const { kind, latePs, doublePs } = link.next(packet)
    if (kind === "vanished") return BlackHole
    if (kind === "lost") return LinkLoss
    if (kind === "corrupted") return LinkCorruption
    if (doublePs >= 0) {
      const { handle } = packet
      this.hold(this.pool.duplicate(handle), from, doublePs)
      packet.at(handle)
    }
    if (latePs === 0) return 0
    this.hold(packet.handle, from, latePs)
    return HELD_UP
  }

  protected override drop(packet: Packet, node: number, reason: number): void {
    if (reason !== HELD_UP) super.drop(packet, node, reason)
  }

  private hold(handle: number, from: number, latePs: Time): void {
    let place = this.free.pop()
    if (place === undefined) place = this.stragglers.push({ handle, from }) - 1
    else Object.assign(this.stragglers[place]!, { handle, from })
    this.onLate(this.time + latePs, place)
  }
}
