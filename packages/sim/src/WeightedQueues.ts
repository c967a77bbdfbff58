import { Layout, type PacketPool } from "@rdmakit/packet"
import { EgressQueues } from "./EgressQueues.ts"
import * as P from "./PortTable.ts"

/** Weights of the queues of every port, eight for each, above 0; queue 0 is control and goes first whatever its own. */
export interface QueueWeights {
  /** Port p's begin at 8 · p. */
  readonly weights: ArrayLike<number>
}

/**
 * Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995): in its turn a queue may send as many bytes as its quantum
 * and what it left of earlier turns. The quantum of a port's smallest weight is the largest frame, so that every turn
 * sends one. A queue that is empty, or paused in its turn, keeps nothing for the next.
 */
export class WeightedQueues extends EgressQueues {
  /** Bytes of a turn, by port and queue. */
  private readonly quantum: Int32Array
  /** What is left of the turn. */
  private readonly deficit: Int32Array
  /** The queue whose turn it is, by port. */
  private readonly turn: Uint8Array

  /** @throws RangeError where weights are missing or not above 0, or are further apart than a turn has room for */
  constructor(
    ports: Int32Array,
    queues: Int32Array,
    pool: PacketPool,
    { weights }: QueueWeights,
    wireBytesMax: number,
  ) {
    super(ports, queues, pool, true)
    const count = ports.length >> P.PORT_SHIFT
    if (weights.length !== 8 * count) throw new RangeError(`${weights.length} weights, expected 8 for each port`)
    this.quantum = new Int32Array(8 * count)
    this.deficit = new Int32Array(8 * count)
    this.turn = new Uint8Array(count)
    for (let port = 0; port < count; port++) {
      let least = Number.POSITIVE_INFINITY
      for (let queue = 1; queue < 8; queue++) least = Math.min(least, weights[8 * port + queue]!)
      for (let queue = 1; queue < 8; queue++) {
        const bytes = Math.round((weights[8 * port + queue]! / least) * wireBytesMax)
        if (!(least > 0 && bytes < 2 ** 30)) throw new RangeError(`weight ${weights[8 * port + queue]} of port ${port}`)
        this.quantum[8 * port + queue] = bytes
      }
    }
  }

  override next(port: number): number {
    const { ports, deficit, turn } = this
    const base = port << P.PORT_SHIFT
    const occupied = ports[base | P.OCCUPIED]!
    if ((occupied & 1) !== 0) return 0
    const open = occupied & ~ports[base | P.PAUSED]!
    if (open === 0) return -1
    let queue = turn[port]!
    for (;;) {
      const at = 8 * port + queue
      if (((open >> queue) & 1) === 0) deficit[at] = 0
      else if (this.headBytes(port, queue) <= deficit[at]!) {
        turn[port] = queue
        return queue
      }
      const above = open & (-2 << queue)
      const from = above !== 0 ? above : open
      queue = 31 - Math.clz32(from & -from)
      deficit[8 * port + queue]! += this.quantum[8 * port + queue]!
    }
  }

  override dequeue(port: number, queue: number): number {
    const handle = super.dequeue(port, queue)
    if (queue !== 0) {
      const isEmpty = ((this.ports[(port << P.PORT_SHIFT) | P.OCCUPIED]! >> queue) & 1) === 0
      if (isEmpty) this.deficit[8 * port + queue] = 0
      else this.deficit[8 * port + queue]! -= this.pool.words[(handle << Layout.RECORD_SHIFT) | Layout.WIRE_BYTES]!
    }
    return handle
  }

  private headBytes(port: number, queue: number): number {
    const head = this.queues[(port << P.QUEUES_SHIFT) | (queue << P.QUEUE_SHIFT) | P.QUEUE_HEAD]!
    return this.pool.words[(head << Layout.RECORD_SHIFT) | Layout.WIRE_BYTES]!
  }
}
