import { Layout, type PacketPool } from "@rdmakit/packet"
import * as P from "./PortTable.ts"

/** Most events fetched for at a time. */
const BATCH = 256

/**
 * Fetches the packets that arrive in a time slot: by then they have mostly left the cache, and reads that do not depend
 * on each other can be under way together. The loops are short for that reason (see ADR 0007).
 *
 * Reads only. What is fetched and then not needed, because an earlier event changed it, is a read wasted.
 */
export class Prefetch {
  private readonly pool: PacketPool
  private readonly ports: Int32Array
  private readonly record = new Int32Array(BATCH)
  /** What was read, kept so that no reading is found useless. */
  private sink = 0

  constructor(pool: PacketPool, ports: Int32Array) {
    this.pool = pool
    this.ports = ports
  }

  /** @param nodes event nodes, from `from` on: of those below `fixed`, 2p is the next arrival over the link of port p */
  readonly fetch = (nodes: Int32Array, from: number, fixed: number): void => {
    const end = nodes.length - from < BATCH ? nodes.length : from + BATCH
    const { ports, record } = this
    let count = 0
    for (let i = from; i < end; i++) {
      const node = nodes[i]!
      if (node < fixed && (node & 1) === 0) {
        record[count++] = ports[(node << (P.PORT_SHIFT - 1)) | P.LINK_HEAD]! << Layout.RECORD_SHIFT
      }
    }
    if (count > 1) this.sink ^= this.touch(count)
  }

  private readonly touch = (count: number): number => {
    const { record } = this
    const { words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) read ^= words[record[i]!]!
    return read
  }
}
