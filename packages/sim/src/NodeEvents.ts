import { NEVER, type Time } from "@rdmakit/protocol"
import { EventNodes } from "./EventNodes.ts"

/**
 * What the nodes of a network have to do by themselves: a heap of events for each, by time and order. The world, which is
 * called too, stands behind the last of them.
 */
export class NodeEvents extends EventNodes {
  /** Time of the first event in each node's heap, ps; NEVER for none. */
  readonly first: Float64Array
  /** Of a host with one port, that port, -1 for all others; and the end of what it sends, ps, NEVER where nobody waits for it. */
  readonly lone: Int32Array
  readonly ends: Float64Array
  private readonly heaps: ReadonlyArray<Array<number>>

  /**
   * @param fixed as in `EventNodes`: the end of what port p sends is event 2p + 1
   * @param lone of each node of the network
   */
  constructor(fixed: number, lone: Int32Array) {
    super(fixed)
    this.lone = lone
    this.ends = new Float64Array(lone.length).fill(NEVER)
    this.first = new Float64Array(lone.length + 1).fill(NEVER)
    this.heaps = Array.from({ length: lone.length + 1 }, () => [])
  }

  /** The end of what a port sends, which has none scheduled, becomes an event. */
  complete(node: number, port: number, time: Time): void {
    const event = (port << 1) | 1
    this.f64[event << 1] = time
    if (this.lone[node] === port) this.ends[node] = time
    else this.schedule(node, event, port)
  }

  private schedule(node: number, event: number, order: number): void {
    this.setOrder(event, order)
    if (this.heapPush(this.heaps[node]!, event) === 0) this.first[node] = this.f64[event << 1]!
  }

  /** Adds an event, which must be given back with `release` when it has been popped. */
  push(node: number, time: Time, code: number, argument: number, order: number): number {
    const event = this.make(time, code, argument)
    this.schedule(node, event, order)
    return event
  }

  /** The first event in the heap of a node that has one. */
  peek(node: number): number {
    return this.heaps[node]![0]!
  }
  /** Takes it. */
  pop(node: number): void {
    const heap = this.heaps[node]!
    this.heapPop(heap)
    this.first[node] = heap.length > 0 ? this.f64[heap[0]! << 1]! : NEVER
  }

  /** Whether a node of the network has an event up to a time. */
  has(node: number, last: Time): boolean {
    return this.first[node]! <= last || this.ends[node]! <= last
  }
  /** Time of the first event of all, the world's included, ps; NEVER for none. */
  get next(): Time {
    let next = NEVER
    for (const first of this.first) next = Math.min(next, first)
    for (const end of this.ends) next = Math.min(next, end)
    return next
  }
  /** Events waiting, cancelled ones included; counted when asked. */
  get size(): number {
    const ends = this.ends.reduce((count, end) => count + (end === NEVER ? 0 : 1), 0)
    return this.heaps.reduce((count, heap) => count + heap.length, ends)
  }
}
