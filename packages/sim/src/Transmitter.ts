import { Flag, Layout, Opcode, Packet, type PacketPool } from "@rdmakit/packet"
import { NEVER, type Nic, Shortcut, type Switch, type Time } from "@rdmakit/protocol"
import { EgressQueues } from "./EgressQueues.ts"
import { EventQueue } from "./EventQueue.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { PacketFault } from "./PacketFault.ts"
import { layOutPorts } from "./PortLayout.ts"
import * as P from "./PortTable.ts"
import { ARRIVALS } from "./TieOrder.ts"
import type { Tracer } from "./Tracer.ts"
import { type Turns, turnsOf } from "./Turns.ts"
import { WeightedQueues } from "./WeightedQueues.ts"

/**
 * The half of the exact kernel that sends: queues, transmitters and links.
 *
 * A transmission has two order numbers, its completion's and its arrival's: those of its port, or the next two when it
 * starts (see `TieOrder`). A completion that nobody waits for keeps its number but gets no event; should something come
 * to wait before that moment, the event is made with the number it would have had. So the order of all other events is
 * what it would be with every event in place.
 */
export abstract class Transmitter {
  readonly pool: PacketPool
  readonly packet: Packet
  /** Set by the world: policies by node. */
  readonly switches: Array<Switch | undefined>
  readonly nics: Array<Nic | undefined>
  tracer: Tracer | undefined = undefined
  /** Words of all ports' policies, a switch's or a NIC's: see `Shortcut`. */
  readonly policyWords: Int32Array

  protected readonly queue: EventQueue
  /** Where nodes take turns, nearly all events are here: see `FusedKernel`. */
  protected turns: Turns | undefined
  /** Nodes 2p and 2p + 1 of the queue are port p's next arrival and its completion. */
  protected readonly fixedNodes: number
  protected readonly ports: Int32Array
  protected readonly portF64: Float64Array
  /** Node of each port; of a host's port, the complement: negative. */
  protected readonly nodeOf: Int32Array
  protected readonly queues: EgressQueues
  /** Serialization times by size, a stretch for each rate. */
  protected readonly txTable: Float64Array
  protected readonly canonical: boolean
  /** Departures are found out when somebody looks, but of ports that are `eager`: see `Departures`. */
  protected readonly fused: boolean
  protected readonly eager: Uint8Array
  /** Time and order number of the event being executed; the time is NEVER at first, a double before it is set to 0. */
  protected time: Time = NEVER
  protected currentOrder = 0
  private readonly wireBytesMax: number

  constructor(options: ExactKernelOptions) {
    const { network, pool } = options
    if (network.ports > Layout.PORTS_MAX)
      throw new RangeError(`network of ${network.ports} ports, expected at most ${Layout.PORTS_MAX}`)
    this.time = 0
    this.wireBytesMax = options.wireBytesMax
    this.pool = pool
    this.packet = new Packet(pool)
    this.canonical = options.ties !== "insertion"
    this.fused = options.fused === true
    this.eager = new Uint8Array(network.ports).fill(1)
    this.fixedNodes = 2 * network.ports
    this.queue = new EventQueue(this.fixedNodes, options.slotPs ?? 1024)
    this.switches = new Array(network.nodes).fill(undefined)
    this.nics = new Array(network.nodes).fill(undefined)
    const { ports, portF64, policyWords, queueWords, txTable, nodeOf } = layOutPorts(
      network,
      options.wireBytesMax,
      options.serializationPs,
    )
    this.ports = ports
    this.portF64 = portF64
    this.txTable = txTable
    this.nodeOf = nodeOf
    this.turns =
      options.turns === true
        ? turnsOf(network, pool, this.fixedNodes, (rateBps) => options.serializationPs(options.wireBytesMax, rateBps))
        : undefined
    const { discipline = "strict" } = options
    this.queues =
      typeof discipline === "string"
        ? new EgressQueues(ports, queueWords, pool, discipline === "strict")
        : new WeightedQueues(ports, queueWords, pool, discipline, options.wireBytesMax)
    this.policyWords = policyWords
  }

  // --- what policies and worlds read of ports

  /** Bytes waiting at a port, all queues. */
  queueBytes(port: number): number {
    return this.ports[(port << P.PORT_SHIFT) | P.QUEUED_BYTES]!
  }
  /** Bytes waiting in one queue of a port. */
  queueBytesOf(port: number, queue: number): number {
    return this.queues.bytes(port, queue)
  }
  /** Where the policy words of a port begin. */
  policyAt(port: number): number {
    return port << P.POLICY_SHIFT
  }
  /** Bytes a port has sent: of the packet that it is sending, all. */
  sentBytes(port: number): number {
    return this.portF64[(port << (P.PORT_SHIFT - 1)) | P.SENT_BYTES_F64]!
  }
  /** When the last byte of what a port is sending is on the link, ps; not after now when it sends nothing. */
  sendingUntil(port: number): Time {
    const base = port << P.PORT_SHIFT
    const busy = this.ports[base | P.STATE]! & P.BUSY_MASK
    if (busy === P.Busy.No) return 0
    if (busy === P.Busy.Silent) return this.portF64[(base >> 1) | P.BUSY_UNTIL_F64]!
    return (this.turns?.own ?? this.queue).timeOf((port << 1) | 1)
  }
  /** Priorities of a port that its peer has paused, a bit each. */
  pausedMask(port: number): number {
    return this.ports[(port << P.PORT_SHIFT) | P.PAUSED]!
  }

  leave(port: number, unmarkedBytes: number, stampCode: number): void {
    this.ports[(port << P.PORT_SHIFT) | P.LEAVE] = unmarkedBytes < 0 ? P.Leave.Nothing : stampCode
    this.queues.leave(port, unmarkedBytes)
  }

  // --- from a queue onto a link

  /** Whether a silent transmission is over, its completion's turn come and gone. */
  protected readonly isOver = (base: number): boolean => {
    const until = this.portF64[(base >> 1) | P.BUSY_UNTIL_F64]!
    const now = this.time
    if (until !== now) return until < now
    return ((this.ports[base | P.BUSY_ORDER]! - this.currentOrder) | 0) < 0
  }

  /** Nothing waits at the port, and a packet of this queue may be sent at once. */
  protected readonly isFree = (base: number, queue: number): boolean => {
    const { ports } = this
    if (ports[base | P.OCCUPIED] !== 0 || (((ports[base | P.PAUSED]! & ~1) >> queue) & 1) !== 0) return false
    const busy = ports[base | P.STATE]! & P.BUSY_MASK
    return busy === P.Busy.No || (busy === P.Busy.Silent && this.isOver(base))
  }

  /** Something waits at the port: it is sent now, or when the port is idle. */
  protected readonly kickNow = (port: number): void => {
    const base = port << P.PORT_SHIFT
    const state = this.ports[base | P.STATE]!
    const busy = state & P.BUSY_MASK
    if (busy === P.Busy.Scheduled) return
    if (busy === P.Busy.Silent && !this.isOver(base)) {
      if (this.fused && this.eager[port] === 0) return
      this.ports[base | P.STATE] = (state & ~P.BUSY_MASK) | P.Busy.Scheduled
      this.completeAt(port, this.portF64[(base >> 1) | P.BUSY_UNTIL_F64]!, this.ports[base | P.BUSY_ORDER]!)
      return
    }
    this.transmit(port, base)
  }

  /** The end of what a port sends becomes an event. */
  protected readonly completeAt = (port: number, time: Time, order: number): void => {
    const { queue, turns } = this
    if (turns === undefined) {
      queue.f64[(port << 2) | 2] = time
      queue.schedule((port << 1) | 1, order)
    } else {
      const node = this.nodeOf[port]!
      turns.own.complete(node < 0 ? ~node : node, port, time)
    }
  }

  /** The port is idle: starts the next packet, when there is one. Where links go down it is exchanged. */
  protected transmit = (port: number, base: number): void => {
    this.ports[base | P.STATE]! &= ~P.BUSY_MASK
    if (this.nodeOf[port]! < 0) {
      this.transmitHost(port, base)
      return
    }
    const queue = this.queues.next(port)
    if (queue >= 0) this.sendFromSwitch(port, base, queue, this.queues.dequeue(port, queue))
  }

  private readonly transmitHost = (port: number, base: number): void => {
    const nic = this.nics[~this.nodeOf[port]!]!
    const handle = nic.pull(this.time, port, this.ports[base | P.PAUSED]!)
    if (handle < 0) return
    // What is larger than the table of serialization times would take another rate's, or none.
    const bytes = this.pool.words[(handle << Layout.RECORD_SHIFT) | Layout.WIRE_BYTES]!
    if (!(bytes >= 1 && bytes <= this.wireBytesMax)) this.refuse(port, handle, bytes)
    if (this.tracer !== undefined) {
      const packet = this.packet.at(handle)
      const queue = packet.opcode < Opcode.Acknowledge ? packet.priority : 0
      this.tracer.dequeued(this.time, port, queue, packet)
    }
    this.start(port, base, handle, !nic.quiet(port))
  }

  private refuse(port: number, handle: number, bytes: number | undefined): never {
    throw new PacketFault(handle, bytes, this.wireBytesMax, ~this.nodeOf[port]!, this.time)
  }

  /** A packet that has left its queue. */
  protected readonly sendFromSwitch = (port: number, base: number, queue: number, handle: number): void => {
    if (this.tracer !== undefined || !this.leaves(port, queue, handle)) {
      const now = this.time
      // Busy from here on: the policy may send a PFC frame through this very port.
      this.ports[base | P.STATE]! |= P.Busy.Scheduled
      this.switches[this.nodeOf[port]!]!.dequeued(now, this.packet.at(handle), port, queue)
      if (this.tracer !== undefined) this.tracer.dequeued(now, port, queue, this.packet.at(handle))
    }
    this.start(port, base, handle, (this.ports[base | P.OCCUPIED]! & ~(this.ports[base | P.PAUSED]! & ~1)) !== 0)
  }

  /** Does for the switch what there is to do as the packet leaves; false, and nothing done, when it must be asked. */
  private readonly leaves = (port: number, queue: number, handle: number): boolean => {
    const code = this.ports[(port << P.PORT_SHIFT) | P.LEAVE]!
    if (code === P.Leave.Nothing) return false
    const { policyWords } = this
    const { words } = this.pool
    const record = handle << Layout.RECORD_SHIFT
    if (queue !== 0) {
      const ingress = (words[record | Layout.PLACE]! & Layout.INGRESS) << P.POLICY_SHIFT
      const held = policyWords[ingress + Shortcut.Held + queue]!
      if (held > policyWords[ingress + Shortcut.Limit]! || !this.queues.isUnmarked(port, queue)) return false
      policyWords[ingress + Shortcut.Held + queue] = held - words[record | Layout.WIRE_BYTES]!
    }
    if (code >= 0 && (words[record | Layout.META]! & Flag.Telemetry) !== 0) {
      this.stamp(port, handle, code, this.ports[(port << P.PORT_SHIFT) | P.QUEUED_BYTES]!)
    }
    return true
  }

  /** Stamps telemetry for the switch. */
  protected readonly stamp = (port: number, handle: number, code: number, waitingBytes: number): void => {
    const sent = this.portF64[(port << (P.PORT_SHIFT - 1)) | P.SENT_BYTES_F64]!
    this.packet.at(handle).stampHop(this.time, sent, waitingBytes, code, this.nodeOf[port]!)
  }

  /** Starts to send. `awaited`: somebody waits for the end of this transmission. */
  protected readonly start = (port: number, base: number, handle: number, awaited: boolean): void => {
    const { canonical, ports, portF64, pool, queue } = this
    const { words } = pool
    const f = base >> 1
    const record = handle << Layout.RECORD_SHIFT
    const bytes = words[record | Layout.WIRE_BYTES]!
    const end = this.time + this.txTable[ports[base | P.TX_BASE]! + bytes]!
    const order = canonical ? port : queue.reserve(2)
    portF64[f | P.SENT_BYTES_F64]! += bytes
    const state = ports[base | P.STATE]! & ~P.BUSY_MASK
    // A comparison, for what the compiler does not know to be a boolean it asks for all that is no truth.
    if (awaited === true && !(this.fused && this.eager[port] === 0)) {
      ports[base | P.STATE] = state | P.Busy.Scheduled
      this.completeAt(port, end, order)
    } else {
      ports[base | P.STATE] = state | P.Busy.Silent
      portF64[f | P.BUSY_UNTIL_F64] = end
      // Otherwise it is the port's for good.
      if (!canonical) ports[base | P.BUSY_ORDER] = order
    }
    const arrival = end + portF64[f | P.DELAY_F64]!
    if (this.turns !== undefined) {
      const peer = ports[base | P.PEER]!
      this.turns.inboxes.put(peer < 0 ? ~peer : peer, arrival, port, handle)
      return
    }
    const arrivalOrder = canonical ? ARRIVALS | port : (order + 1) | 0
    words[record | Layout.NEXT] = -1
    // What is known of an arrival is kept with the packet before it, which is at hand when its turn comes.
    if (ports[base | P.LINK_HEAD]! >= 0) {
      const before = ports[base | P.LINK_TAIL]! << Layout.RECORD_SHIFT
      words[before | Layout.NEXT] = handle
      words[before | Layout.NEXT_ORDER] = arrivalOrder
      pool.f64[(before >> 1) | Layout.NEXT_ARRIVAL_F64] = arrival
    } else {
      ports[base | P.LINK_HEAD] = handle
      queue.f64[port << 2] = arrival
      queue.schedule(port << 1, arrivalOrder)
    }
    ports[base | P.LINK_TAIL] = handle
  }

  /** The first packet on the link of `from` has reached the other end; the next one's arrival is the port's event now. */
  protected readonly takeFromLink = (from: number): number => {
    const { ports, pool, queue } = this
    const { words } = pool
    const at = (from << P.PORT_SHIFT) | P.LINK_HEAD
    const handle = ports[at]!
    const record = handle << Layout.RECORD_SHIFT
    const next = words[record | Layout.NEXT]!
    ports[at] = next
    if (next >= 0) {
      queue.f64[from << 2] = pool.f64[(record >> 1) | Layout.NEXT_ARRIVAL_F64]!
      queue.schedule(from << 1, words[record | Layout.NEXT_ORDER]!)
    }
    return handle
  }
}
