import { Layout, type PacketPool } from "@rdmakit/packet"
import * as P from "./PortTable.ts"

/** The eight queues of every switch port: lists of packets through their records, heads and counts in the port table. */
export class EgressQueues {
  /** Packets waiting, all ports together. */
  waiting = 0
  private readonly ports: Int32Array
  private readonly pool: PacketPool
  private readonly strict: boolean

  /** @param strict the higher the number the sooner; else a round robin. Queue 0 comes first in both. */
  constructor(ports: Int32Array, pool: PacketPool, strict: boolean) {
    this.ports = ports
    this.pool = pool
    this.strict = strict
  }

  /** Puts a packet at the end of a queue of the port whose words begin at `base`. */
  append(base: number, queue: number, handle: number): void {
    const ports = this.ports
    const words = this.pool.words
    const record = handle << Layout.RECORD_SHIFT
    const bytes = words[record + Layout.WIRE_BYTES]!
    words[record + Layout.NEXT] = -1
    const bit = 1 << queue
    if ((ports[base + P.OCCUPIED]! & bit) === 0) {
      ports[base + P.OCCUPIED]! |= bit
      ports[base + P.QUEUE_HEAD + queue] = handle
    } else {
      words[(ports[base + P.QUEUE_TAIL + queue]! << Layout.RECORD_SHIFT) + Layout.NEXT] = handle
    }
    this.waiting++
    ports[base + P.QUEUE_TAIL + queue] = handle
    ports[base + P.QUEUE_BYTES + queue]! += bytes
    ports[base + P.QUEUED_BYTES]! += bytes
  }

  /** Queue to serve next, or -1: queue 0 (control, never paused) first. */
  next(base: number): number {
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

  /** Takes the first packet of a queue that has one. */
  dequeue(base: number, queue: number): number {
    const ports = this.ports
    const words = this.pool.words
    const handle = ports[base + P.QUEUE_HEAD + queue]!
    const at = handle << Layout.RECORD_SHIFT
    const next = words[at + Layout.NEXT]!
    if (next < 0) ports[base + P.OCCUPIED]! &= ~(1 << queue)
    else ports[base + P.QUEUE_HEAD + queue] = next
    const bytes = words[at + Layout.WIRE_BYTES]!
    this.waiting--
    ports[base + P.QUEUE_BYTES + queue]! -= bytes
    ports[base + P.QUEUED_BYTES]! -= bytes
    if (queue !== 0) ports[base + P.LAST_QUEUE] = queue
    return handle
  }
}
