import type { Time } from "@rdmakit/protocol"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import * as P from "./PortTable.ts"
import { Transmitter } from "./Transmitter.ts"

/**
 * Departures without events, for the fused kernel. What a port sends next is decided by what waits there when the
 * packet before has left, and by nothing that happens later; so it may be decided late, when somebody looks at the port:
 * a packet that comes to it, a pause, or its own packet, arriving at the other end, which is how the next arrival gets
 * to be known in time. All departures up to then are made up for, each as of its own moment.
 *
 * Only one thing may not be late: to tell other nodes. A switch that has sent a pause owes a resume, and a departure
 * brings it about; so as long as a pause is out, departures of that switch are events. The same goes for a switch
 * that declares its dequeue hook "eager", and for all when there is a tracer. Otherwise departures of a switch only
 * take away from what its buffer holds, in whatever order; and before the buffer has to decide, all are made up for.
 */
export abstract class Departures extends Transmitter {
  /** Ports of each node, one after the other: node n's from `portsFrom[n]` on. */
  private readonly portIds: Int32Array
  private readonly portsFrom: Int32Array
  /** Priorities of the peer of each port that its switch has paused, a bit each; and how many those are for each node. */
  private readonly pausing: Int32Array
  private readonly pausesOut: Int32Array
  /** Of each node, in the places of its ports: those at which something may wait, so many. */
  private readonly waitingAt: Int32Array
  protected readonly waitingCount: Int32Array
  private readonly isListed: Uint8Array
  /** Switches whose departures are never late. */
  private readonly alwaysEager: Uint8Array
  /** Switches that choose a way for each packet. */
  protected readonly chooses: Uint8Array
  private isPrepared = false

  constructor(options: ExactKernelOptions) {
    super(options)
    if (this.fused && !this.canonical)
      throw new RangeError("a fused kernel with ties by insertion: it schedules in another order, use canonical ties")
    const { nodes, ports, portNode } = options.network
    this.pausing = new Int32Array(ports)
    this.pausesOut = new Int32Array(nodes)
    this.waitingAt = new Int32Array(ports)
    this.waitingCount = new Int32Array(nodes)
    this.isListed = new Uint8Array(ports)
    this.alwaysEager = new Uint8Array(nodes)
    this.chooses = new Uint8Array(nodes)
    this.portsFrom = new Int32Array(nodes + 1)
    for (const node of portNode) this.portsFrom[node + 1]!++
    for (let node = 0; node < nodes; node++) this.portsFrom[node + 1]! += this.portsFrom[node]!
    const next = this.portsFrom.slice()
    this.portIds = new Int32Array(ports)
    portNode.forEach((node, port) => {
      this.portIds[next[node]!++] = port
    })
  }

  /** Before the first event: whose departures may be late, and who is asked for the way of each packet. */
  protected prepare(): void {
    if (this.isPrepared) return
    this.isPrepared = true
    for (let node = 0; node < this.switches.length; node++) {
      const policy = this.switches[node]
      if (policy === undefined) continue
      this.chooses[node] = policy.perPacket ? 1 : 0
      this.alwaysEager[node] = this.tracer === undefined && policy.dequeue === "lazy" ? 0 : 1
      this.setEager(node, this.alwaysEager[node]!)
    }
  }

  private setEager(node: number, eager: number): void {
    const end = this.portsFrom[node + 1]!
    for (let at = this.portsFrom[node]!; at < end; at++) {
      const port = this.portIds[at]!
      if (eager !== 0) this.settle(port)
      this.eager[port] = eager
      // What is being sent was nobody's concern so far: its end becomes an event.
      if (eager !== 0 && this.ports[(port << P.PORT_SHIFT) | P.OCCUPIED] !== 0) this.kickNow(port)
    }
  }

  /** A switch is about to send a pause through a port, or a resume. */
  protected notePfc(node: number, port: number, priority: number, pause: boolean): void {
    const bit = 1 << priority
    const was = this.pausing[port]!
    if (((was & bit) !== 0) === pause) return
    this.pausing[port] = was ^ bit
    const out = this.pausesOut[node]! + (pause ? 1 : -1)
    this.pausesOut[node] = out
    if (this.alwaysEager[node] !== 0) return
    if (pause && out === 1) this.setEager(node, 1)
    else if (out === 0) this.setEager(node, 0)
  }

  /** Makes up for the departures of a port, up to now. */
  protected settle(port: number): void {
    const base = port << P.PORT_SHIFT
    if (this.fused && this.ports[base | P.OCCUPIED] !== 0) this.catchUp(port, base)
  }

  /** Something comes to wait at a port of a switch. */
  protected readonly list = (port: number): void => {
    if (this.isListed[port] !== 0) return
    this.isListed[port] = 1
    const node = this.nodeOf[port]!
    this.waitingAt[this.portsFrom[node]! + this.waitingCount[node]!++] = port
  }

  /** Makes up for the departures of all ports of a switch. */
  protected readonly settleNode = (node: number): void => {
    const { isListed, ports, waitingAt, waitingCount } = this
    if (waitingCount[node] === 0 || this.alwaysEager[node] !== 0) return
    const from = this.portsFrom[node]!
    let kept = from
    for (let at = from; at < from + waitingCount[node]!; at++) {
      const port = waitingAt[at]!
      const base = port << P.PORT_SHIFT
      if (ports[base | P.OCCUPIED] !== 0) this.catchUp(port, base)
      if (ports[base | P.OCCUPIED] !== 0) waitingAt[kept++] = port
      else isListed[port] = 0
    }
    waitingCount[node] = kept - from
  }

  /** Whether anything that waits at a switch will leave it: what is paused does not, until a resume comes. */
  protected mayLeave(node: number): boolean {
    const { ports, waitingAt, waitingCount } = this
    const from = this.portsFrom[node]!
    for (let at = from; at < from + waitingCount[node]!; at++) {
      const base = waitingAt[at]! << P.PORT_SHIFT
      if ((ports[base | P.OCCUPIED]! & ~(ports[base | P.PAUSED]! & ~1)) !== 0) return true
    }
    return false
  }

  /** The departures of a port, at which something waits, that should have been. */
  protected readonly catchUp = (port: number, base: number): void => {
    const now = this.time
    const order = this.currentOrder
    if (!this.isLate(port, base, now, order)) return
    const { packet, ports, portF64, queues } = this
    // Whoever has the cursor is in the middle of something.
    const { handle } = packet
    this.currentOrder = port
    do {
      this.time = portF64[(base >> 1) | P.BUSY_UNTIL_F64]!
      ports[base | P.STATE]! &= ~P.BUSY_MASK
      const queue = queues.next(port)
      if (queue < 0) break
      this.sendFromSwitch(port, base, queue, queues.dequeue(port, queue))
    } while (ports[base | P.OCCUPIED] !== 0 && this.isLate(port, base, now, order))
    this.time = now
    this.currentOrder = order
    packet.at(handle)
  }

  /** Whether what a port sends is over, and nobody has looked since. */
  private readonly isLate = (port: number, base: number, now: Time, order: number): boolean => {
    if ((this.ports[base | P.STATE]! & P.BUSY_MASK) !== P.Busy.Silent) return false
    const until = this.portF64[(base >> 1) | P.BUSY_UNTIL_F64]!
    return until < now || (until === now && port < order)
  }

  /** Packets waiting in the queues of switches. */
  get waiting(): number {
    for (let port = 0; port < this.nodeOf.length; port++) this.settle(port)
    return this.queues.waiting
  }
  override queueBytes(port: number): number {
    this.settle(port)
    return super.queueBytes(port)
  }
  override queueBytesOf(port: number, queue: number): number {
    this.settle(port)
    return super.queueBytesOf(port, queue)
  }
  /** Bytes waiting in one queue of a switch's port that came by its port `ingress`; takes as long as the queue is. */
  queueBytesFrom(port: number, queue: number, ingress: number): number {
    this.settle(port)
    return this.queues.bytesFrom(port, queue, ingress)
  }
  override sentBytes(port: number): number {
    this.settle(port)
    return super.sentBytes(port)
  }
  override sendingUntil(port: number): Time {
    this.settle(port)
    return super.sendingUntil(port)
  }
}
