import { Flag, Layout, Opcode, Packet, type PacketPool } from "@rdmakit/packet"
import type { Nic, NicPorts, Switch, SwitchPorts, Time } from "@rdmakit/protocol"
import { NEVER } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import { EventQueue, KIND_BITS } from "./EventQueue.ts"
import type { Network } from "./Network.ts"
import { PauseClock } from "./PauseClock.ts"
import * as P from "./PortTable.ts"
import type { Tracer } from "./Tracer.ts"

const Kind = { Arrival: 0, Completion: 1, Wake: 2, Timer: 3, Call: 4 } as const

/** Reasons of the kernel's own drops; a switch's are negative (see `Drop` in protocol). */
export const LinkLoss = -16

export interface ExactKernelOptions {
  readonly network: Network
  readonly pool: PacketPool
  /** How a port chooses among its queues: queue 0 first in both. Default "strict": the higher the number the sooner. */
  readonly discipline?: "strict" | "round-robin"
  /** Serialization time of a frame on a link, ps. */
  readonly serializationPs: (bytes: number, rateBps: number) => Time
  /** Largest frame, bytes. */
  readonly wireBytesMax: number
  /** Size of a PFC frame, bytes: 64 on Ethernet (IEEE 802.1Qbb); 43 in the ns-3 model. */
  readonly pfcBytes: number
  /** Slot width of the event queue, ps. */
  readonly slotPs?: Time
  readonly seed?: number
  /** Ordinals (from 0) of frames to lose, by sending port: faults for tests and experiments. */
  readonly losses?: ReadonlyMap<number, ReadonlySet<number>>
}

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

  /** Packets that left a port and arrived at the next node; PFC frames, which are not packets, apart. */
  packetHops = 0
  pfcFrames = 0
  events = 0
  /** Frames dropped, by minus their reason. */
  readonly dropCounts = new Float64Array(32)
  readonly pauses: PauseClock

  private readonly queue: EventQueue
  private readonly ports: Int32Array
  private readonly portF64: Float64Array
  private readonly txTable: Float64Array
  private readonly strict: boolean
  private readonly pfcBytes: number
  private readonly seed: number
  private readonly losses: ReadonlyMap<number, ReadonlySet<number>> | undefined
  private readonly anyLoss: boolean
  /** [0] time of the event being executed, [1] its order number. */
  private readonly cell = new Float64Array(2)

  constructor(options: ExactKernelOptions) {
    const { network, pool } = options
    this.pool = pool
    this.packet = new Packet(pool)
    this.queue = new EventQueue(options.slotPs ?? 1024)
    this.strict = (options.discipline ?? "strict") === "strict"
    this.pfcBytes = options.pfcBytes
    this.seed = options.seed ?? 0
    this.losses = options.losses
    this.switches = new Array(network.nodes).fill(undefined)
    this.nics = new Array(network.nodes).fill(undefined)
    const { ports, portF64, txTable } = layOutPorts(options)
    this.ports = ports
    this.portF64 = portF64
    this.txTable = txTable
    this.pauses = new PauseClock(network.ports)
    this.anyLoss = network.lossRate.some((rate) => rate > 0) || (options.losses?.size ?? 0) > 0
  }

  get now(): Time {
    return this.cell[0]!
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
    const queue = this.queue
    let done = 0
    while (done < budget) {
      const id = queue.pop(until)
      if (id < 0) break
      done++
      this.cell[0] = queue.timeOf(id)
      this.cell[1] = queue.orderOf(id)
      const code = queue.codeOf(id)
      const argument = queue.argumentOf(id)
      queue.release(id)
      this.dispatch(code, argument)
    }
    this.events += done
    return done
  }

  private dispatch(code: number, argument: number): void {
    const target = code >> KIND_BITS
    switch (code & ((1 << KIND_BITS) - 1)) {
      case Kind.Arrival:
        this.arrive(target, argument)
        break
      case Kind.Completion:
        this.ports[(target << P.PORT_SHIFT) + P.BUSY] = P.Busy.No
        this.transmit(target)
        break
      case Kind.Wake:
        this.portF64[(target << P.PORT_F64_SHIFT) + P.WAKE_TIME] = NEVER
        this.kickNow(target)
        break
      case Kind.Timer:
        this.nics[argument]!.timer(this.cell[0]!, target)
        break
      default:
        this.onCall(this.cell[0]!, target, argument)
    }
  }

  // --- arrivals

  private arrive(from: number, handle: number): void {
    const port = from ^ 1
    const base = port << P.PORT_SHIFT
    const packet = this.packet.at(handle)
    if (packet.opcode === Opcode.Pfc) {
      this.pfcFrames++
      this.receivePfc(port, packet)
      return
    }
    this.packetHops++
    const node = this.ports[base + P.NODE]!
    if (this.anyLoss && this.isLost(from)) {
      this.drop(packet, node, LinkLoss)
      return
    }
    const now = this.cell[0]!
    if (this.tracer !== undefined) this.tracer.received(now, port, packet)
    if (this.ports[base + P.ON_SWITCH] === 1) this.forward(node, port, packet)
    else this.nics[node]!.receive(now, packet, port)
  }

  private forward(node: number, ingress: number, packet: Packet): void {
    const now = this.cell[0]!
    const policy = this.switches[node]!
    packet.ingressPort = ingress
    packet.hop++
    const egress = policy.route(now, packet)
    if (egress < 0) {
      this.drop(packet, node, egress)
      return
    }
    // A pause sent while admitting moves the cursor: keep the handle.
    const handle = packet.handle
    const queue = policy.admit(now, packet, ingress, egress)
    if (queue < 0) {
      this.drop(packet.at(handle), node, queue)
      return
    }
    this.enqueue(egress, queue, handle)
  }

  private isLost(from: number): boolean {
    const f = (from << P.PORT_F64_SHIFT) + P.ARRIVALS
    const ordinal = this.portF64[f]!
    this.portF64[f] = ordinal + 1
    const rate = this.portF64[(from << P.PORT_F64_SHIFT) + P.LOSS]!
    if (rate > 0 && uniform(this.seed, from, ordinal) < rate) return true
    return this.losses !== undefined && this.losses.get(from)?.has(ordinal) === true
  }

  private drop(packet: Packet, node: number, reason: number): void {
    this.dropCounts[-reason]!++
    this.onDrop(this.cell[0]!, packet, node, reason)
    this.pool.release(packet.handle)
  }

  // --- PFC (IEEE 802.1Qbb): a pause holds until a resume comes

  private receivePfc(port: number, packet: Packet): void {
    const now = this.cell[0]!
    if (this.tracer !== undefined) this.tracer.received(now, port, packet)
    const priority = packet.priority
    const pause = packet.has(Flag.Pause)
    const at = (port << P.PORT_SHIFT) + P.PAUSED
    const was = this.ports[at]!
    const is = pause ? was | (1 << priority) : was & ~(1 << priority)
    this.ports[at] = is
    this.pauses.change(now, port, was, is, pause)
    if (this.tracer !== undefined) this.tracer.pfc(now, port, priority, pause)
    this.pool.release(packet.handle)
    if (!pause) this.kickNow(port)
  }

  sendPfc(now: Time, port: number, priority: number, pause: boolean): void {
    const handle = this.pool.alloc()
    const packet = this.packet.at(handle)
    packet.meta = Opcode.Pfc | (pause ? Flag.Pause : 0) | (priority << 24)
    packet.wireBytes = this.pfcBytes
    packet.source = this.ports[(port << P.PORT_SHIFT) + P.NODE]!
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
  /** Bytes a port has sent. */
  sentBytes(port: number): number {
    return this.portF64[(port << P.PORT_F64_SHIFT) + P.SENT_BYTES]!
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
    const ports = this.ports
    const words = this.pool.words
    const base = port << P.PORT_SHIFT
    const bytes = words[(handle << Layout.RECORD_SHIFT) + Layout.WIRE_BYTES]!
    if (this.tracer !== undefined) this.tracer.enqueued(this.cell[0]!, port, queue, this.packet.at(handle))
    words[(handle << Layout.RECORD_SHIFT) + Layout.NEXT] = -1
    const bit = 1 << queue
    if ((ports[base + P.OCCUPIED]! & bit) === 0) {
      ports[base + P.OCCUPIED]! |= bit
      ports[base + P.QUEUE_HEAD + queue] = handle
    } else {
      words[(ports[base + P.QUEUE_TAIL + queue]! << Layout.RECORD_SHIFT) + Layout.NEXT] = handle
    }
    ports[base + P.QUEUE_TAIL + queue] = handle
    ports[base + P.QUEUE_BYTES + queue]! += bytes
    ports[base + P.QUEUED_BYTES]! += bytes
    this.kickNow(port)
  }

  /** Queue to serve next, or -1: queue 0 (control, never paused) first. */
  private nextQueue(base: number): number {
    const ports = this.ports
    const occupied = ports[base + P.OCCUPIED]!
    if ((occupied & 1) !== 0) return 0
    const open = occupied & ~ports[base + P.PAUSED]!
    if (open === 0) return -1
    if (this.strict) return 31 - Math.clz32(open)
    const last = ports[base + P.LAST_QUEUE]!
    const above = open & (-2 << last)
    const from = above !== 0 ? above : open
    return 31 - Math.clz32(from & -from)
  }

  private dequeue(base: number, queue: number): number {
    const ports = this.ports
    const words = this.pool.words
    const handle = ports[base + P.QUEUE_HEAD + queue]!
    const at = handle << Layout.RECORD_SHIFT
    const next = words[at + Layout.NEXT]!
    if (next < 0) ports[base + P.OCCUPIED]! &= ~(1 << queue)
    else ports[base + P.QUEUE_HEAD + queue] = next
    const bytes = words[at + Layout.WIRE_BYTES]!
    ports[base + P.QUEUE_BYTES + queue]! -= bytes
    ports[base + P.QUEUED_BYTES]! -= bytes
    if (queue !== 0) ports[base + P.LAST_QUEUE] = queue
    return handle
  }

  // --- transmission

  kick(_now: Time, port: number): void {
    this.kickNow(port)
  }

  private kickNow(port: number): void {
    const at = (port << P.PORT_SHIFT) + P.BUSY
    const busy = this.ports[at]!
    if (busy === P.Busy.Scheduled) return
    if (busy === P.Busy.Silent) {
      const f = port << P.PORT_F64_SHIFT
      const until = this.portF64[f + P.BUSY_UNTIL]!
      const now = this.cell[0]!
      if (until > now || (until === now && this.portF64[f + P.BUSY_ORDER]! > this.cell[1]!)) {
        this.ports[at] = P.Busy.Scheduled
        this.queue.pushOrdered(until, this.portF64[f + P.BUSY_ORDER]!, Kind.Completion | (port << KIND_BITS), 0)
        return
      }
      this.ports[at] = P.Busy.No
    }
    this.transmit(port)
  }

  /** The port is idle: starts the next packet, when there is one. */
  private transmit(port: number): void {
    const base = port << P.PORT_SHIFT
    if (this.ports[base + P.ON_SWITCH] === 1) this.transmitSwitch(port, base)
    else this.transmitHost(port, base)
  }

  private transmitSwitch(port: number, base: number): void {
    const queue = this.nextQueue(base)
    if (queue < 0) return
    const now = this.cell[0]!
    const handle = this.dequeue(base, queue)
    const packet = this.packet.at(handle)
    this.switches[this.ports[base + P.NODE]!]!.dequeued(now, packet, port, queue)
    if (this.tracer !== undefined) this.tracer.dequeued(now, port, queue, this.packet.at(handle))
    const waiting = this.ports[base + P.OCCUPIED]! & ~(this.ports[base + P.PAUSED]! & ~1)
    this.start(port, handle, waiting !== 0)
  }

  private transmitHost(port: number, base: number): void {
    const nic = this.nics[this.ports[base + P.NODE]!]!
    const handle = nic.pull(this.cell[0]!, port, this.ports[base + P.PAUSED]!)
    if (handle < 0) return
    if (this.tracer !== undefined) {
      const packet = this.packet.at(handle)
      const queue = packet.opcode < Opcode.Acknowledge ? packet.priority : 0
      this.tracer.dequeued(this.cell[0]!, port, queue, packet)
    }
    this.start(port, handle, !nic.quiet(port))
  }

  private start(port: number, handle: number, awaited: boolean): void {
    const f = port << P.PORT_F64_SHIFT
    const base = port << P.PORT_SHIFT
    const bytes = this.pool.words[(handle << Layout.RECORD_SHIFT) + Layout.WIRE_BYTES]!
    const queue = this.queue
    const end = this.cell[0]! + this.txTable[this.ports[base + P.TX_TABLE]! + bytes]!
    const order = queue.reserve()
    this.portF64[f + P.SENT_BYTES]! += bytes
    if (awaited) {
      this.ports[base + P.BUSY] = P.Busy.Scheduled
      queue.pushOrdered(end, order, Kind.Completion | (port << KIND_BITS), 0)
    } else {
      this.ports[base + P.BUSY] = P.Busy.Silent
      this.portF64[f + P.BUSY_UNTIL] = end
      this.portF64[f + P.BUSY_ORDER] = order
    }
    queue.push(end + this.portF64[f + P.DELAY]!, Kind.Arrival | (port << KIND_BITS), handle)
  }

  // --- wake-ups and timers of NICs

  wakeTime(port: number): Time {
    return this.portF64[(port << P.PORT_F64_SHIFT) + P.WAKE_TIME]!
  }
  wakeAt(port: number, time: Time): void {
    const f = port << P.PORT_F64_SHIFT
    if (this.portF64[f + P.WAKE_TIME]! !== NEVER) this.queue.cancel(this.portF64[f + P.WAKE_EVENT]!)
    this.portF64[f + P.WAKE_TIME] = time
    this.portF64[f + P.WAKE_EVENT] = this.queue.push(time, Kind.Wake | (port << KIND_BITS), 0)
  }
  timerAt(node: number, endpoint: number, time: Time): void {
    this.queue.push(time, Kind.Timer | (endpoint << KIND_BITS), node)
  }
}

function layOutPorts(options: ExactKernelOptions): { ports: Int32Array; portF64: Float64Array; txTable: Float64Array } {
  const { network, wireBytesMax, serializationPs } = options
  const ports = new Int32Array(network.ports << P.PORT_SHIFT)
  const portF64 = new Float64Array(network.ports << P.PORT_F64_SHIFT)
  const rates = [...new Set(network.rateBps)]
  const stride = wireBytesMax + 1
  const txTable = new Float64Array(stride * rates.length)
  rates.forEach((rate, r) => {
    for (let bytes = 0; bytes < stride; bytes++) txTable[r * stride + bytes] = serializationPs(bytes, rate)
  })
  for (let port = 0; port < network.ports; port++) {
    const base = port << P.PORT_SHIFT
    const f = port << P.PORT_F64_SHIFT
    const node = network.portNode[port]!
    ports[base + P.NODE] = node
    ports[base + P.ON_SWITCH] = network.isSwitch[node]!
    ports[base + P.TX_TABLE] = stride * rates.indexOf(network.rateBps[port]!)
    portF64[f + P.DELAY] = network.delayPs[port]!
    portF64[f + P.WAKE_TIME] = NEVER
    portF64[f + P.LOSS] = network.lossRate[port]!
  }
  return { ports, portF64, txTable }
}
