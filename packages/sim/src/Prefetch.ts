import { Layout, type PacketPool } from "@rdmakit/packet"
import * as P from "./PortTable.ts"

/** Most arrivals fetched for at a time. */
const BATCH = 256

/**
 * Fetches the packets that arrive in a time slot, their telemetry, and the packets behind them: by then they have mostly
 * left the cache, and reads that do not depend on each other can be under way together. The loops are short for that
 * reason (see ADR 0007).
 *
 * Reads only. What is fetched and then not needed, because an earlier event changed it, is a read wasted.
 */
export class Prefetch {
  private readonly pool: PacketPool
  private readonly ports: Int32Array
  private readonly record = new Int32Array(BATCH)
  /** What was read, kept so that no reading is found useless. */
  private readonly sink = new Int32Array(1)

  constructor(pool: PacketPool, ports: Int32Array) {
    this.pool = pool
    this.ports = ports
  }

  /** @param nodes event nodes, of which 2p below `fixed` is the next arrival over the link of port p */
  fetch(nodes: Int32Array, count: number, fixed: number): void {
    const arrivals = this.gather(nodes, count, fixed)
    if (arrivals < 2) return
    this.sink[0]! ^= this.touchPackets(arrivals)
    this.sink[0]! ^= this.touchNext(arrivals)
  }

  private gather(nodes: Int32Array, count: number, fixed: number): number {
    const { ports, record } = this
    const most = count < BATCH ? count : BATCH
    let n = 0
    for (let i = 0; i < most; i++) {
      const node = nodes[i]!
      if (node >= fixed || (node & 1) !== 0) continue
      record[n++] = ports[(node << (P.PORT_SHIFT - 1)) + P.LINK_HEAD]! << Layout.RECORD_SHIFT
    }
    return n
  }

  private touchPackets(count: number): number {
    const { record } = this
    const { words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) read ^= words[record[i]!]!
    return read
  }

  private touchNext(count: number): number {
    const { record } = this
    const { telemetry, telemetryStride, words } = this.pool
    let read = 0
    for (let i = 0; i < count; i++) {
      const at = words[record[i]! + Layout.TELEMETRY]!
      if (at >= 0) read ^= telemetry[(at & 0xffffff) * telemetryStride]!
      const next = words[record[i]! + Layout.NEXT]!
      if (next >= 0) read ^= words[next << Layout.RECORD_SHIFT]!
    }
    return read
  }
}
