import { Layout, type PacketPool } from "@rdmakit/packet"
import * as P from "./PortTable.ts"

/** The eight queues of every switch port: lists of packets through their records. */
export class EgressQueues {
  /** Packets waiting, all ports together. */
  waiting = 0
  protected readonly ports: Int32Array
  protected readonly queues: Int32Array
  protected readonly pool: PacketPool
  private readonly strict: boolean

  /** @param strict the higher the number the sooner; else a round robin. Queue 0 comes first in both. */
  constructor(ports: Int32Array, queues: Int32Array, pool: PacketPool, strict: boolean) {
    this.ports = ports
    this.queues = queues
    this.pool = pool
    this.strict = strict
  }

  /** Bytes waiting in one queue of a port. */
  bytes(port: number, queue: number): number {
    return this.queues[(port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT) | P.QUEUE_BYTES]!
  }

  /** Sets what may stay behind in a port's queues while nothing is marked. */
  leave(port: number, unmarkedBytes: number): void {
    for (let queue = 0; queue < 8; queue++) {
      this.queues[(port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT) | P.QUEUE_UNMARKED] = unmarkedBytes
    }
  }

  /** Whether what a queue holds is too little for a packet that left it to be marked. */
  isUnmarked(port: number, queue: number): boolean {
    const at = (port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT)
    return this.queues[at | P.QUEUE_BYTES]! <= this.queues[at | P.QUEUE_UNMARKED]!
  }

  /** Bytes waiting in one queue of a port that came by `ingress`: walks the queue. */
  bytesFrom(port: number, queue: number, ingress: number): number {
    const { words } = this.pool
    if (((this.ports[(port << P.PORT_SHIFT) | P.OCCUPIED]! >> queue) & 1) === 0) return 0
    let handle = this.queues[(port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT) | P.QUEUE_HEAD]!
    let bytes = 0
    while (handle >= 0) {
      const record = handle << Layout.RECORD_SHIFT
      const from = words[record | Layout.PLACE]! & Layout.INGRESS
      if (from === ingress) bytes += words[record | Layout.WIRE_BYTES]!
      handle = words[record | Layout.NEXT]!
    }
    return bytes
  }

  /** Puts a packet at the end of a queue. */
  append(port: number, queue: number, handle: number): void {
    const { ports, queues } = this
    const words = this.pool.words
    const base = port << P.PORT_SHIFT
    const at = (port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT)
    const record = handle << Layout.RECORD_SHIFT
    const bytes = words[record | Layout.WIRE_BYTES]!
    const bit = 1 << queue
    const occupied = ports[base | P.OCCUPIED]!
    words[record | Layout.NEXT] = -1
    if ((occupied & bit) === 0) {
      ports[base | P.OCCUPIED] = occupied | bit
      queues[at | P.QUEUE_HEAD] = handle
    } else {
      words[(queues[at | P.QUEUE_TAIL]! << Layout.RECORD_SHIFT) | Layout.NEXT] = handle
    }
    queues[at | P.QUEUE_TAIL] = handle
    queues[at | P.QUEUE_BYTES]! += bytes
    ports[base | P.QUEUED_BYTES]! += bytes
    this.waiting++
  }

  /** Queue to serve next, or -1: queue 0 (control, never paused) first. */
  next(port: number): number {
    const { ports } = this
    const base = port << P.PORT_SHIFT
    const occupied = ports[base | P.OCCUPIED]!
    if ((occupied & 1) !== 0) return 0
    const open = occupied & ~ports[base | P.PAUSED]!
    if (open === 0) return -1
    if (this.strict) return 31 - Math.clz32(open)
    const above = open & (-2 << ((ports[base | P.STATE]! >> P.LAST_SHIFT) & 7))
    const from = above !== 0 ? above : open
    return 31 - Math.clz32(from & -from)
  }

  /** Takes the first packet of a queue that has one; the port is idle. */
  dequeue(port: number, queue: number): number {
    const { ports, queues } = this
    const words = this.pool.words
    const base = port << P.PORT_SHIFT
    const at = (port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT)
    const handle = queues[at | P.QUEUE_HEAD]!
    const record = handle << Layout.RECORD_SHIFT
    const next = words[record | Layout.NEXT]!
    if (next < 0) ports[base | P.OCCUPIED]! &= ~(1 << queue)
    else queues[at | P.QUEUE_HEAD] = next
    const bytes = words[record | Layout.WIRE_BYTES]!
    queues[at | P.QUEUE_BYTES]! -= bytes
    ports[base | P.QUEUED_BYTES]! -= bytes
    if (queue !== 0) ports[base | P.STATE] = queue << P.LAST_SHIFT
    this.waiting--
    return handle
  }
}
