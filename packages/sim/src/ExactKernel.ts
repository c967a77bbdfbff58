import { Flag, Layout, Opcode, Packet, type PacketPool } from "@rdmakit/packet"
import type { Nic, NicPorts, Switch, SwitchPorts, Time } from "@rdmakit/protocol"
import { Drop, NEVER } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import { EgressQueues } from "./EgressQueues.ts"
import { EventQueue } from "./EventQueue.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { LinkRings } from "./LinkRings.ts"
import { PathCache } from "./PathCache.ts"
import { PauseClock } from "./PauseClock.ts"
import { layOutPorts } from "./PortLayout.ts"
import * as P from "./PortTable.ts"
import { Prefetch } from "./Prefetch.ts"
import type { Tracer } from "./Tracer.ts"

/** Codes of the events that are not a port's own: kind in the low bits, target above them. */
const KIND_BITS = 2
const Kind = { Wake: 0, Timer: 1, Call: 2 } as const

/** A packet counts its hops in eight bits. */
const HOPS_LIMIT = 254

/** Reasons of the kernel's own drops; a switch's are negative (see `Drop` in protocol). */
export const LinkLoss = -16

/**
 * The exact kernel: two events a hop (end of serialization, arrival), in (time, order number) order. It owns ports,
 * queues and links, and calls the policies: a `Switch` or a `Nic` for each node.
 *
 * A transmission takes two order numbers when it starts, its completion's and its arrival's. A completion that nobody
 * waits for keeps its number but gets no event; should something come to wait before that moment, the event is made
 * with the number it would have had. So the order of all other events is what it would be with every event in place.
 */
export class ExactKernel implements SwitchPorts, NicPorts {
  readonly pool: PacketPool
  readonly packet: Packet
  /** Set by the world: policies by node, and what runs at `callAt`. */
  readonly switches: Array<Switch | undefined>
  readonly nics: Array<Nic | undefined>
  onCall: (now: Time, target: number, argument: number) => void = () => {}
  /** Called for each frame that goes lost, before its handle is released; `reason` as in `dropCounts`. */
  onDrop: (now: Time, packet: Packet, node: number, reason: number) => void = () => {}
  tracer: Tracer | undefined = undefined
  /** Called when a PFC frame takes effect at a port. */
  onPause: ((now: Time, port: number, priority: number, pause: boolean) => void) | undefined = undefined
  /** Called for each PFC frame that a switch sends, before it is queued. */
  onPfcSent: (() => void) | undefined = undefined

  /** Packets that left a port and arrived at the next node; PFC frames, which are not packets, apart. */
  packetHops = 0
  pfcFrames = 0
  events = 0
  /** Frames dropped, by minus their reason. */
  readonly dropCounts = new Float64Array(32)
  readonly pauses: PauseClock
  /** The path of every flow: where routes that hold for a flow are kept. `ensure` room for flow indices from 1,024 on. */
  readonly paths: PathCache

  private readonly queue: EventQueue
  /** Nodes 2p and 2p + 1 of the queue are port p's next arrival and its completion. */
  private readonly fixedNodes: number
  private readonly ports: Int32Array
  private readonly portF64: Float64Array
  /** Node of each port; of a host's port, the complement: negative. */
  private readonly nodeOf: Int32Array
  private readonly rings: LinkRings
  private readonly queues: EgressQueues
  /** Serialization times by size, a stretch for each rate; and where each port's begins. */
  private readonly txTable: Float64Array
  private readonly txBase: Int32Array
  private readonly pfcBytes: number
  private readonly seed: number
  private readonly losses: ReadonlyMap<number, ReadonlySet<number>> | undefined
  private readonly anyLoss: boolean
  /** Time and order number of the event being executed. In typed arrays so that writes never box. */
  private readonly clock = new Float64Array(1)
  private readonly currentOrder = new Int32Array(1)

  constructor(options: ExactKernelOptions) {
    const { network, pool } = options
    this.pool = pool
    this.packet = new Packet(pool)
    this.fixedNodes = 2 * network.ports
    this.queue = new EventQueue(this.fixedNodes, options.slotPs ?? 1024)
    this.pfcBytes = options.pfcBytes
    this.seed = options.seed ?? 0
    this.losses = options.losses
    this.switches = new Array(network.nodes).fill(undefined)
    this.nics = new Array(network.nodes).fill(undefined)
    if (options.hopsMax > HOPS_LIMIT)
      throw new RangeError(`hopsMax is ${options.hopsMax}, expected at most ${HOPS_LIMIT}`)
    this.paths = new PathCache(options.hopsMax)
    const { ports, portF64, txTable, txBase } = layOutPorts(network, options.wireBytesMax, options.serializationPs)
    this.ports = ports
    this.portF64 = portF64
    this.txTable = txTable
    this.txBase = txBase
    this.rings = new LinkRings(network.ports)
    this.queues = new EgressQueues(ports, pool, (options.discipline ?? "strict") === "strict")
    this.nodeOf = network.portNode.map((node) => (network.isSwitch[node] === 1 ? node : ~node))
    const prefetch = new Prefetch(pool, ports, this.rings)
    this.queue.onOpen = (nodes, count) => prefetch.fetch(nodes, count, this.fixedNodes)
    this.pauses = new PauseClock(network.ports)
    this.anyLoss = network.lossRate.some((rate) => rate > 0) || (options.losses?.size ?? 0) > 0
  }

  get now(): Time {
    return this.clock[0]!
  }
  /** Packets waiting in the queues of switches. */
  get waiting(): number {
    return this.queues.waiting
  }
  get pendingEvents(): number {
    return this.queue.size
  }

  /** Asks for `onCall(time, target, argument)`. */
  callAt(time: Time, target: number, argument: number): void {
    this.queue.push(time, Kind.Call | (target << KIND_BITS), argument)
  }

  /** Executes events strictly before `until`, at most `budget` of them; returns how many. 0: none is left before it. */
  run(until: Time, budget: number): number {
    let done = 0
    while (done < budget && this.step(until)) done++
    this.events += done
    return done
  }

  private step(until: Time): boolean {
    const queue = this.queue
    const node = queue.pop(until)
    if (node < 0) return false
    this.clock[0] = queue.f64[node * 2]!
    this.currentOrder[0] = queue.orderOf(node)
    if (node >= this.fixedNodes) this.other(node)
    else if ((node & 1) === 0) this.arrive(node >> 1)
    else this.complete(node >> 1)
    return true
  }

  private complete(port: number): void {
    this.ports[(port << P.PORT_SHIFT) + P.BUSY] = P.Busy.No
    this.transmit(port)
  }

  private other(node: number): void {
    const queue = this.queue
    const code = queue.codeOf(node)
    const argument = queue.argumentOf(node)
    queue.release(node)
    const target = code >> KIND_BITS
    const kind = code & ((1 << KIND_BITS) - 1)
    if (kind === Kind.Wake) {
      this.portF64[(target << (P.PORT_SHIFT - 1)) + P.WAKE_TIME_F64] = NEVER
      this.kickNow(target)
    } else if (kind === Kind.Timer) {
      this.nics[argument]!.timer(this.clock[0]!, target)
    } else {
      this.onCall(this.clock[0]!, target, argument)
    }
  }

  // --- arrivals

  /** The first packet on the link of `from` has reached the other end; the next one's arrival is the port's event now. */
  private takeFromLink(from: number): number {
    const base = from << P.PORT_SHIFT
    const { ports, rings } = this
    const start = ports[base + P.RING_START]!
    const mask = ports[base + P.RING_MASK]!
    const head = ports[base + P.RING_HEAD]!
    const handle = rings.handleAt(start + (head & mask))
    const next = (head + 1) | 0
    ports[base + P.RING_HEAD] = next
    if (next !== ports[base + P.RING_TAIL]) {
      const entry = start + (next & mask)
      this.queue.f64[from * 4] = rings.f64[entry * 2]!
      this.queue.schedule(from * 2, rings.orderAt(entry))
    }
    return handle
  }

  private arrive(from: number): void {
    const handle = this.takeFromLink(from)
    const port = from ^ 1
    const packet = this.packet.at(handle)
    const node = this.nodeOf[port]!
    if ((this.pool.words[handle << Layout.RECORD_SHIFT]! & 0xff) === Opcode.Pfc) {
      this.pfcFrames++
      this.receivePfc(port, packet)
      return
    }
    this.packetHops++
    if (this.anyLoss && this.isLost(from)) {
      this.drop(packet, node < 0 ? ~node : node, LinkLoss)
      return
    }
    const now = this.clock[0]!
    if (this.tracer !== undefined) this.tracer.received(now, port, packet)
    if (node >= 0) this.forward(node, port, packet)
    else this.nics[~node]!.receive(now, packet, port)
  }

  private forward(node: number, ingress: number, packet: Packet): void {
    const now = this.clock[0]!
    const policy = this.switches[node]!
    const hop = packet.hop
    packet.enterSwitch(ingress)
    let egress = policy.perPacket ? 0 : this.paths.at(packet.flow, hop)
    if (egress === 0) {
      egress = hop < this.paths.stride ? policy.route(now, packet) + 1 : Drop.HopLimit + 1
      if (egress > 0 && !policy.perPacket) this.paths.set(packet.flow, hop, egress)
    }
    egress--
    if (egress < 0) {
      this.drop(packet, node, egress)
      return
    }
    // A pause sent while admitting moves the cursor: keep the handle.
    const { handle } = packet
    const queue = policy.admit(now, packet, ingress, egress)
    if (queue < 0) {
      this.drop(packet.at(handle), node, queue)
      return
    }
    this.enqueue(egress, queue, handle)
  }

  private isLost(from: number): boolean {
    const f = from << (P.PORT_SHIFT - 1)
    const ordinal = this.portF64[f + P.CROSSED_F64]!
    this.portF64[f + P.CROSSED_F64] = ordinal + 1
    const rate = this.portF64[f + P.LOSS_F64]!
    if (rate > 0 && uniform(this.seed, from, ordinal) < rate) return true
    return this.losses !== undefined && this.losses.get(from)?.has(ordinal) === true
  }

  private drop(packet: Packet, node: number, reason: number): void {
    this.dropCounts[-reason]!++
    this.onDrop(this.clock[0]!, packet, node, reason)
    this.pool.release(packet.handle)
  }

  // --- PFC (IEEE 802.1Qbb): a pause holds until a resume comes

  private receivePfc(port: number, packet: Packet): void {
    const now = this.clock[0]!
    if (this.tracer !== undefined) this.tracer.received(now, port, packet)
    const priority = packet.priority
    const pause = packet.has(Flag.Pause)
    const at = (port << P.PORT_SHIFT) + P.PAUSED
    const was = this.ports[at]!
    const is = pause ? was | (1 << priority) : was & ~(1 << priority)
    this.ports[at] = is
    this.pauses.change(now, port, was, is, pause)
    this.onPause?.(now, port, priority, pause)
    this.pool.release(packet.handle)
    if (!pause) this.kickNow(port)
  }

  sendPfc(now: Time, port: number, priority: number, pause: boolean): void {
    this.onPfcSent?.()
    const handle = this.pool.alloc()
    const packet = this.packet.at(handle)
    packet.meta = Opcode.Pfc | (pause ? Flag.Pause : 0) | (priority << 24)
    packet.wireBytes = this.pfcBytes
    const node = this.nodeOf[port]!
    packet.setNodes(node < 0 ? ~node : node, 0)
    packet.stamp = now
    // What the frame reports: bytes of that priority waiting at the port (a debugging aid of the ns-3 model).
    packet.payloadBytes = 0
    packet.flow = this.ports[(port << P.PORT_SHIFT) + P.QUEUE_BYTES + priority]!
    this.enqueue(port, 0, handle)
  }

  // --- queues

  queueBytes(port: number): number {
    return this.ports[(port << P.PORT_SHIFT) + P.QUEUED_BYTES]!
  }
  /** Words of all ports; a switch's policy owns sixteen of each of its ports, from `policyAt`. */
  get policyWords(): Int32Array {
    return this.ports
  }
  policyAt(port: number): number {
    return (port << P.PORT_SHIFT) + P.POLICY
  }
  /** Bytes a port has sent. */
  sentBytes(port: number): number {
    return this.portF64[(port << (P.PORT_SHIFT - 1)) + P.SENT_BYTES_F64]!
  }
  /** Priorities of a port that its peer has paused, a bit each. */
  pausedMask(port: number): number {
    return this.ports[(port << P.PORT_SHIFT) + P.PAUSED]!
  }
  /** Bytes waiting in one queue of a port. */
  queueBytesOf(port: number, queue: number): number {
    return this.ports[(port << P.PORT_SHIFT) + P.QUEUE_BYTES + queue]!
  }

  private enqueue(port: number, queue: number, handle: number): void {
    const base = port << P.PORT_SHIFT
    if (this.tracer !== undefined) this.tracer.enqueued(this.clock[0]!, port, queue, this.packet.at(handle))
    if (this.ports[base + P.OCCUPIED] === 0 && this.isIdle(port)) {
      // Straight through: nothing waits, and (pauses aside) it would be dequeued at once.
      if (queue === 0 || ((this.ports[base + P.PAUSED]! >> queue) & 1) === 0) {
        if (queue !== 0) this.ports[base + P.LAST_QUEUE] = queue
        this.sendFromSwitch(port, base, queue, handle)
        return
      }
    }
    this.queues.append(base, queue, handle)
    this.kickNow(port)
  }

  // --- transmission

  kick(_now: Time, port: number): void {
    this.kickNow(port)
  }

  /** Whether a silent transmission is over, its completion's turn come and gone. */
  private isOver(port: number): boolean {
    const until = this.portF64[(port << (P.PORT_SHIFT - 1)) + P.BUSY_UNTIL_F64]!
    const now = this.clock[0]!
    if (until !== now) return until < now
    return ((this.ports[(port << P.PORT_SHIFT) + P.BUSY_ORDER]! - this.currentOrder[0]!) | 0) < 0
  }

  private isIdle(port: number): boolean {
    const busy = this.ports[(port << P.PORT_SHIFT) + P.BUSY]!
    return busy === P.Busy.No || (busy === P.Busy.Silent && this.isOver(port))
  }

  private kickNow(port: number): void {
    const at = (port << P.PORT_SHIFT) + P.BUSY
    const busy = this.ports[at]!
    if (busy === P.Busy.Scheduled) return
    if (busy === P.Busy.Silent && !this.isOver(port)) {
      this.ports[at] = P.Busy.Scheduled
      this.queue.f64[port * 4 + 2] = this.portF64[(port << (P.PORT_SHIFT - 1)) + P.BUSY_UNTIL_F64]!
      this.queue.schedule(port * 2 + 1, this.ports[(port << P.PORT_SHIFT) + P.BUSY_ORDER]!)
      return
    }
    this.ports[at] = P.Busy.No
    this.transmit(port)
  }

  /** The port is idle: starts the next packet, when there is one. */
  private transmit(port: number): void {
    const base = port << P.PORT_SHIFT
    if (this.nodeOf[port]! < 0) {
      this.transmitHost(port, base)
      return
    }
    const queue = this.queues.next(base)
    if (queue >= 0) this.sendFromSwitch(port, base, queue, this.queues.dequeue(base, queue))
  }

  private sendFromSwitch(port: number, base: number, queue: number, handle: number): void {
    const now = this.clock[0]!
    // Busy from here on: the policy may send a PFC frame through this very port.
    this.ports[base + P.BUSY] = P.Busy.Scheduled
    this.switches[this.nodeOf[port]!]!.dequeued(now, this.packet.at(handle), port, queue)
    if (this.tracer !== undefined) this.tracer.dequeued(now, port, queue, this.packet.at(handle))
    this.start(port, handle, (this.ports[base + P.OCCUPIED]! & ~(this.ports[base + P.PAUSED]! & ~1)) !== 0)
  }

  private transmitHost(port: number, base: number): void {
    const nic = this.nics[~this.nodeOf[port]!]!
    const handle = nic.pull(this.clock[0]!, port, this.ports[base + P.PAUSED]!)
    if (handle < 0) return
    if (this.tracer !== undefined) {
      const packet = this.packet.at(handle)
      const queue = packet.opcode < Opcode.Acknowledge ? packet.priority : 0
      this.tracer.dequeued(this.clock[0]!, port, queue, packet)
    }
    this.start(port, handle, !nic.quiet(port))
  }

  /** `awaited`: somebody waits for the end of this transmission. */
  private start(port: number, handle: number, awaited: boolean): void {
    const f = port << (P.PORT_SHIFT - 1)
    const base = port << P.PORT_SHIFT
    const { ports, portF64, queue } = this
    const bytes = this.pool.words[(handle << Layout.RECORD_SHIFT) + Layout.WIRE_BYTES]!
    const end = this.clock[0]! + this.txTable[this.txBase[port]! + bytes]!
    portF64[f + P.SENT_BYTES_F64]! += bytes
    const order = queue.reserve()
    if (awaited) {
      ports[base + P.BUSY] = P.Busy.Scheduled
      queue.f64[port * 4 + 2] = end
      queue.schedule(port * 2 + 1, order)
    } else {
      ports[base + P.BUSY] = P.Busy.Silent
      portF64[f + P.BUSY_UNTIL_F64] = end
      ports[base + P.BUSY_ORDER] = order
    }
    this.putOnLink(port, base, handle, end + portF64[f + P.DELAY_F64]!)
  }

  private putOnLink(port: number, base: number, handle: number, arrival: Time): void {
    const { ports, queue, rings } = this
    const order = queue.reserve()
    const tail = ports[base + P.RING_TAIL]!
    const head = ports[base + P.RING_HEAD]!
    if (tail === head) {
      queue.f64[port * 4] = arrival
      queue.schedule(port * 2, order)
    } else if (((tail - head) | 0) > ports[base + P.RING_MASK]!) {
      ports[base + P.RING_START] = rings.double(ports[base + P.RING_START]!, ports[base + P.RING_MASK]!, head)
      ports[base + P.RING_MASK] = 2 * ports[base + P.RING_MASK]! + 1
    }
    rings.write(ports[base + P.RING_START]! + (tail & ports[base + P.RING_MASK]!), arrival, handle, order)
    ports[base + P.RING_TAIL] = (tail + 1) | 0
  }

  // --- wake-ups and timers of NICs

  wakeTime(port: number): Time {
    return this.portF64[(port << (P.PORT_SHIFT - 1)) + P.WAKE_TIME_F64]!
  }
  wakeAt(port: number, time: Time): void {
    const f = (port << (P.PORT_SHIFT - 1)) + P.WAKE_TIME_F64
    const event = (port << P.PORT_SHIFT) + P.WAKE_EVENT
    if (this.portF64[f]! !== NEVER) this.queue.cancel(this.ports[event]!)
    this.portF64[f] = time
    this.ports[event] = this.queue.push(time, Kind.Wake | (port << KIND_BITS), 0)
  }
  timerAt(node: number, endpoint: number, time: Time): void {
    this.queue.push(time, Kind.Timer | (endpoint << KIND_BITS), node)
  }
}
