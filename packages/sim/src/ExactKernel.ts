import { Flag, Layout, Opcode, type Packet } from "@rdmakit/packet"
import { Drop, NEVER, type NicPorts, Shortcut, type SwitchPorts, type Time } from "@rdmakit/protocol"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { FrameLosses, LinkLoss } from "./FrameLosses.ts"
import { PathCache } from "./PathCache.ts"
import * as P from "./PortTable.ts"
import { Prefetch } from "./Prefetch.ts"
import { BEFORE_ALL } from "./TieOrder.ts"
import { Waking } from "./Waking.ts"

/** Events executed in one go; see `runSome`. */
const BURST = 128

/** A packet counts its hops in eight bits. */
const HOPS_LIMIT = 254

/**
 * The exact kernel: two events a hop (end of serialization, arrival), in the order of time and, at one time, of
 * `TieOrder`. It owns ports, queues and links, and calls the policies: a `Switch` or a `Nic` for each node.
 */
export class ExactKernel extends Waking implements SwitchPorts, NicPorts {
  /** Called for each frame that goes lost, before its handle is released; `reason` as in `dropCounts`. */
  onDrop: (now: Time, packet: Packet, node: number, reason: number) => void = () => {}

  /** Packets that left a port and arrived at the next node; PFC frames, which are not packets, apart. */
  packetHops = 0
  pfcFrames = 0
  events = 0
  /** Frames dropped, by minus their reason. */
  readonly dropCounts = new Float64Array(32)
  /** The path of every flow: where routes that hold for a flow are kept. `ensure` room for flow indices from 1,024 on. */
  readonly paths: PathCache

  /** Between two runs: the time of the last event. */
  protected reached: Time
  protected between = true

  /** Where any may be lost, every arrival is looked at. */
  protected readonly losses: FrameLosses

  constructor(options: ExactKernelOptions) {
    super(options)
    const { pool } = options
    if (options.hopsMax > HOPS_LIMIT)
      throw new RangeError(`hopsMax is ${options.hopsMax}, expected at most ${HOPS_LIMIT}`)
    this.losses = new FrameLosses(options)
    this.paths = new PathCache(options.hopsMax)
    const prefetch = new Prefetch(pool, this.ports)
    this.queue.onOpen = (nodes, count) => prefetch.fetch(nodes, count, this.fixedNodes)
    // Known to be a double from the start on: were it found out in the middle of a run, all code would be compiled anew.
    this.reached = NEVER
    this.reached = 0
  }

  /** Time of the event that is executed, or was last. */
  get now(): Time {
    return this.between ? this.reached : this.time
  }
  /** Most packets that were alive at once. */
  get packetsPeak(): number {
    return this.pool.alivePeak
  }
  get pendingEvents(): number {
    return this.queue.size
  }
  /** Whether nothing is left to happen. */
  get isDone(): boolean {
    return this.queue.isEmpty
  }

  /** Executes events strictly before `until`, at most `budget` of them; returns how many. 0: none is left before it. */
  run(until: Time, budget: number): number {
    this.prepare()
    let reached = this.now
    this.between = false
    let done = 0
    while (done < budget) {
      const some = this.runSome(until, Math.min(BURST, budget - done))
      if (some === 0) break
      done += some
      reached = this.time
    }
    this.events += done
    if (done === budget) return done
    // Everything before `until` has happened, and nothing at it. What time it is now is told by events all the same.
    this.between = true
    this.reached = reached
    if (this.canonical && until !== NEVER) {
      this.time = until
      this.currentOrder = BEFORE_ALL
    }
    return done
  }

  /** As `run`, in bursts so short that the compiler compiles the whole function, not a loop that it has entered. */
  private readonly runSome = (until: Time, budget: number): number => {
    const { queue, fixedNodes } = this
    let done = 0
    while (done < budget) {
      // What `queue.pop` does, in place: a call for each event is 3 % of a run.
      const at = queue.activeAt
      if (at === queue.active.length) {
        if (queue.openSlot(until)) continue
        break
      }
      const node = queue.active[at]!
      const time = queue.f64[node << 1]!
      if (time >= until) break
      queue.activeAt = at + 1
      if (node >= fixedNodes) {
        done += this.execute(queue, node)
        continue
      }
      done++
      this.time = time
      this.currentOrder = queue.orderOf(node)
      if ((node & 1) === 0) this.arrive(node >> 1, -1, 0)
      else this.transmit(node >> 1, (node >> 1) << P.PORT_SHIFT)
    }
    return done
  }

  // --- arrivals

  /**
   * A packet has come to the other end of the link of a port: the one that is given, or the first on the link, -1. One
   * function for both, which is compiled for what a kernel does of it.
   *
   * @param to the node there; of a host, the complement. Of the first on the link it is found out
   */
  protected readonly arrive = (from: number, given: number, to: number): void => {
    let handle = given
    let node = to
    if (handle < 0) {
      handle = this.takeFromLink(from)
      if (this.fused && this.ports[(from << P.PORT_SHIFT) | P.OCCUPIED] !== 0) this.catchUp(from, from << P.PORT_SHIFT)
      node = this.ports[(from << P.PORT_SHIFT) | P.PEER]!
    }
    const port = from ^ 1
    if (node >= 0 && this.tracer === undefined && !this.losses.any) {
      if (this.chooses[node] === 0 ? this.pass(node, port, handle) : this.passRouted(node, port, handle)) return
    }
    const packet = this.packet.at(handle)
    if (this.losses.any && this.loses(from, node, packet)) return
    if ((this.pool.words[handle << Layout.RECORD_SHIFT]! & 0xff) === Opcode.Pfc) {
      this.pfcFrames++
      this.receivePfc(port, packet)
      return
    }
    this.packetHops++
    const now = this.time
    if (this.tracer !== undefined) this.tracer.received(now, port, packet)
    if (node >= 0) this.forward(node, port, packet)
    else this.nics[~node]!.receive(now, packet, port)
  }

  /**
   * The way of nearly every packet through a switch: its route is known, and there is nothing to ask the switch. False:
   * it is not such a packet, and nothing was done.
   */
  private readonly pass = (node: number, port: number, handle: number): boolean => {
    const { paths } = this
    const { words } = this.pool
    const record = handle << Layout.RECORD_SHIFT
    const hop = words[record | Layout.PSN]! >>> Layout.HOP_SHIFT
    if ((words[record | Layout.META]! & 0xff) === Opcode.Pfc || hop >= paths.stride) return false
    const egress = (paths.slots[words[record | Layout.FLOW]! * paths.stride + hop]! | 0) - 1
    return egress < 0 ? this.passRouted(node, port, handle) : this.through(port, egress, handle)
  }

  /** The same where the switch is asked for the way: of a flow's first packet, or of each. False: nothing was done. */
  private readonly passRouted = (node: number, port: number, handle: number): boolean => {
    const packet = this.packet.at(handle)
    const { hop } = packet
    if (packet.opcode === Opcode.Pfc || hop >= this.paths.stride) return false
    const egress = this.switches[node]!.route(this.time, packet)
    if (egress >= 0) {
      if (this.chooses[node] === 0) this.paths.set(packet.flow, hop, egress + 1)
      if (this.through(port, egress, handle)) return true
    }
    this.packetHops++
    packet.at(handle).enterSwitch(port)
    if (egress < 0) this.drop(packet, node, egress)
    else this.admit(node, port, egress, packet)
    return true
  }

  /** Through a switch by a port that is known, where there is nothing to ask. False: there is, and nothing was done. */
  private readonly through = (port: number, egress: number, handle: number): boolean => {
    const { policyWords, ports } = this
    const { words } = this.pool
    const record = handle << Layout.RECORD_SHIFT
    const meta = words[record | Layout.META]!
    const base = egress << P.PORT_SHIFT
    const code = ports[base | P.LEAVE]!
    if (code === P.Leave.Nothing) return false
    if (this.fused && ports[base | P.OCCUPIED] !== 0) this.catchUp(egress, base)
    const ingress = port << P.POLICY_SHIFT
    const queue = (meta >>> 24) & 7
    const limit = policyWords[ingress + Shortcut.Limit]!
    let held = 0
    if (queue !== 0) {
      held = policyWords[ingress + Shortcut.Held + queue]! + words[record | Layout.WIRE_BYTES]!
      if (held > limit) return false
    } else if (limit < 0) {
      return false
    }
    this.packetHops++
    words[record | Layout.PSN] = (words[record | Layout.PSN]! + (1 << Layout.HOP_SHIFT)) | 0
    words[record | Layout.PLACE] = (words[record | Layout.PLACE]! & ~Layout.INGRESS) | port
    if (this.isFree(base, queue)) {
      // Straight through: what it would add to the bytes held it takes away at once.
      if (queue !== 0) ports[base | P.STATE] = queue << P.LAST_SHIFT
      if (code >= 0 && (meta & Flag.Telemetry) !== 0) this.stamp(egress, handle, code, 0)
      this.start(egress, base, handle, false)
    } else {
      if (queue !== 0) policyWords[ingress + Shortcut.Held + queue] = held
      if (this.fused) this.list(egress)
      this.queues.append(egress, queue, handle)
      if ((ports[base | P.STATE]! & P.BUSY_MASK) !== P.Busy.Scheduled) this.kickNow(egress)
    }
    return true
  }

  protected readonly forward = (node: number, ingress: number, packet: Packet): void => {
    const now = this.time
    const policy = this.switches[node]!
    const hop = packet.hop
    packet.enterSwitch(ingress)
    let egress = policy.perPacket ? 0 : this.paths.at(packet.flow, hop)
    // Where routes change, packets of one flow come here by ways of different lengths.
    if (this.losses.any && egress > 0 && this.nodeOf[egress - 1] !== node) egress = 0
    if (egress === 0) {
      egress = hop < this.paths.stride ? policy.route(now, packet) + 1 : Drop.HopLimit + 1
      if (egress > 0 && !policy.perPacket) this.paths.set(packet.flow, hop, egress)
    }
    egress--
    const reason = egress >= 0 && this.losses.any ? this.departureLossOf(egress, packet) : egress
    if (reason < 0) {
      this.drop(packet, node, reason)
      return
    }
    this.admit(node, ingress, egress, packet)
  }

  /** A packet that has a way through a switch asks whether there is room for it. */
  private readonly admit = (node: number, ingress: number, egress: number, packet: Packet): void => {
    // A pause sent while admitting moves the cursor: keep the handle.
    const { handle } = packet
    if (this.fused) this.settleNode(node)
    const queue = this.switches[node]!.admit(this.time, packet, ingress, egress)
    if (queue < 0) {
      this.drop(packet.at(handle), node, queue)
      return
    }
    this.enqueue(egress, queue, handle)
  }

  /** Whether a frame that has come to the end of its link is lost; then it is gone. */
  private loses(from: number, node: number, packet: Packet): boolean {
    const reason = this.lossOf(from, packet)
    if (reason === 0) return false
    // What is lost on the link did travel.
    if (packet.opcode !== Opcode.Pfc) this.packetHops++
    this.drop(packet, node < 0 ? ~node : node, reason)
    return true
  }

  /** Why a frame that arrives is lost; 0: it is not. */
  protected lossOf(from: number, packet: Packet): number {
    return this.losses.takes(from, packet.opcode === Opcode.Pfc) ? LinkLoss : 0
  }

  /** Why a packet that a switch would send by a port is lost there; 0: it is not. */
  protected departureLossOf(_egress: number, _packet: Packet): number {
    return 0
  }

  protected drop(packet: Packet, node: number, reason: number): void {
    this.dropCounts[-reason]!++
    this.onDrop(this.time, packet, node, reason)
    this.pool.release(packet.handle)
  }

  // --- queues

  /**
   * Drops what waits in a queue of a switch's port, and counts it by `reason`. The switch is told of each packet as if it
   * left, and so gives back its buffer.
   *
   * @returns how many packets
   */
  dropQueue(port: number, queue: number, reason: number): number {
    const node = this.nodeOf[port]!
    const base = port << P.PORT_SHIFT
    let count = 0
    this.settle(port)
    while (((this.ports[base | P.OCCUPIED]! >> queue) & 1) !== 0) {
      // What is being sent goes on being sent.
      const state = this.ports[base | P.STATE]!
      const handle = this.queues.dequeue(port, queue)
      this.ports[base | P.STATE] = state
      this.switches[node]!.dequeued(this.time, this.packet.at(handle), port, queue)
      this.drop(this.packet.at(handle), node, reason)
      count++
    }
    return count
  }

  protected readonly enqueue = (port: number, queue: number, handle: number): void => {
    const base = port << P.PORT_SHIFT
    this.settle(port)
    if (this.tracer !== undefined) this.tracer.enqueued(this.time, port, queue, this.packet.at(handle))
    if (this.isFree(base, queue)) {
      // Straight through: nothing waits, and it would be dequeued at once.
      if (queue !== 0) this.ports[base | P.STATE] = queue << P.LAST_SHIFT
      this.sendFromSwitch(port, base, queue, handle)
    } else {
      if (this.fused) this.list(port)
      this.queues.append(port, queue, handle)
      this.kickNow(port)
    }
  }

  kick(_now: Time, port: number): void {
    if ((this.ports[(port << P.PORT_SHIFT) | P.STATE]! & P.BUSY_MASK) !== P.Busy.Scheduled) this.kickNow(port)
  }
}
