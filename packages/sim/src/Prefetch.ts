import { Layout, type PacketPool } from "@rdmakit/packet"
import type { EgressQueues } from "./EgressQueues.ts"
import type { PathCache } from "./PathCache.ts"
import * as P from "./PortTable.ts"

/** Most events fetched for at a time. */
const BATCH = 256

/**
 * Fetches the packets that arrive or are due to leave in a time slot, with their telemetry, their path and the packets
 * behind them: by then they have mostly left the cache, and reads that do not depend on each other can be under way
 * together. The loops are short for that reason (see ADR 0007).
 *
 * Reads only. What is fetched and then not needed, because an earlier event changed it, is a read wasted.
 */
export class Prefetch {
  private readonly pool: PacketPool
  private readonly ports: Int32Array
  private readonly queues: EgressQueues
  private readonly paths: PathCache
  private readonly record = new Int32Array(BATCH)
  /** What was read, kept so that no reading is found useless. */
  private readonly sink = new Int32Array(1)

  constructor(pool: PacketPool, ports: Int32Array, queues: EgressQueues, paths: PathCache) {
    this.pool = pool
    this.ports = ports
    this.queues = queues
    this.paths = paths
  }

  /** @param nodes event nodes, from `from` on: of those below `fixed`, 2p is the next arrival over the link of port p, 2p + 1 its completion */
  readonly fetch = (nodes: Int32Array, from: number, fixed: number): void => {
    const packets = this.gather(nodes, from, fixed)
    if (packets < 2) return
    this.sink[0]! ^= this.touchPackets(packets)
    this.sink[0]! ^= this.touchTheirs(packets)
  }

  private readonly gather = (nodes: Int32Array, from: number, fixed: number): number => {
    const { ports, queues, record } = this
    const end = nodes.length - from < BATCH ? nodes.length : from + BATCH
    let n = 0
    for (let i = from; i < end; i++) {
      const node = nodes[i]!
      if (node >= fixed) continue
      const base = (node >> 1) << P.PORT_SHIFT
      if ((node & 1) === 0) record[n++] = ports[base + P.LINK_HEAD]! << Layout.RECORD_SHIFT
      else if (ports[base + P.OCCUPIED] !== 0) record[n++] = queues.first(node >> 1) << Layout.RECORD_SHIFT
    }
    return n
  }

  private readonly touchPackets = (count: number): number => {
    const { record } = this
    const { words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) read ^= words[record[i]!]!
    return read
  }

  private readonly touchTheirs = (count: number): number => {
    const { paths, record } = this
    const { slots, stride } = paths
    const { words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) {
      const at = record[i]!
      // Beyond the table lies undefined, which counts as 0.
      read ^= slots[words[at + Layout.FLOW]! * stride]! | 0
    }
    return read
  }
}
