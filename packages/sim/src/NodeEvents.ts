import { NEVER, type Time } from "@rdmakit/protocol"
import { EventNodes } from "./EventNodes.ts"

/**
 * What the nodes of a network have to do by themselves: a heap of events for each, by time and order. The world, which is
 * called too, stands behind the last of them.
 */
export class NodeEvents extends EventNodes {
  /** Time of each network node's first event, ps; NEVER for none. */
  readonly first: Float64Array
  private readonly heaps: ReadonlyArray<Array<number>>

  /** @param fixed as in `EventNodes`; @param nodes of the network */
  constructor(fixed: number, nodes: number) {
    super(fixed)
    this.first = new Float64Array(nodes + 1).fill(NEVER)
    this.heaps = Array.from({ length: nodes + 1 }, () => [])
  }

  /** Schedules a fixed event that is not scheduled: its time must have been written to `f64[2 · event]`. */
  schedule(node: number, event: number, order: number): void {
    this.setOrder(event, order)
    if (this.heapPush(this.heaps[node]!, event) === 0) this.first[node] = this.f64[event << 1]!
  }

  /** Adds an event, which must be given back with `release` when it has been popped. */
  push(node: number, time: Time, code: number, argument: number, order: number): number {
    const event = this.make(time, code, argument)
    this.schedule(node, event, order)
    return event
  }

  /** The first event of a network node that has one. */
  peek(node: number): number {
    return this.heaps[node]![0]!
  }
  /** Takes it. */
  pop(node: number): void {
    const heap = this.heaps[node]!
    this.heapPop(heap)
    this.first[node] = heap.length > 0 ? this.f64[heap[0]! << 1]! : NEVER
  }

  /** Events waiting, cancelled ones included; counted when asked. */
  get size(): number {
    return this.heaps.reduce((count, heap) => count + heap.length, 0)
  }
}
