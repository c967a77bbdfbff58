import type { Time } from "@rdmakit/protocol"

/** A node is 16 bytes: time (a double), order number, next node in a list. */
export const NODE_SHIFT = 2
export const ORDER = 2
export const NEXT = 3

/** Room for events made by `push`: what is not used of it is not touched, and costs nothing. */
const PUSHED_AT_FIRST = 1 << 18

/**
 * Events and what they are about, for a queue that puts them in order.
 *
 * There are two kinds of node. The first `fixed` ones belong to the owner for good (one for each thing that waits for
 * at most one event, a port's next arrival, say): they are scheduled again and again, never allocated. The others are
 * made anew and live until they are given back. So the memory an event touches stays small, which is what it costs.
 */
export abstract class EventNodes {
  /** Nodes, as doubles (time at 2·id) and as words; replaced when there are more than there is room for. */
  f64: Float64Array
  i32: Int32Array

  protected readonly fixed: number
  /** Nodes given back, a list; and the first that was never given out. */
  private free = -1
  private fresh: number
  private capacity: number
  /** Of nodes made anew, two words each: a code (-1: cancelled) and an argument. */
  private payload: Int32Array

  /** @param fixed nodes that belong to the owner, 0 to fixed - 1 */
  constructor(fixed: number) {
    this.fixed = fixed
    this.fresh = fixed
    this.capacity = fixed + PUSHED_AT_FIRST
    this.payload = new Int32Array(2 * PUSHED_AT_FIRST)
    const buffer = new ArrayBuffer(this.capacity * 16)
    this.f64 = new Float64Array(buffer)
    this.i32 = new Int32Array(buffer)
  }

  /** A new node, which is not scheduled yet. */
  protected make(time: Time, code: number, argument: number): number {
    let node = this.free
    if (node >= 0) {
      this.free = this.i32[(node << NODE_SHIFT) | NEXT]!
    } else {
      if (this.fresh === this.capacity) this.grow()
      node = this.fresh++
    }
    this.f64[node << 1] = time
    const at = (node - this.fixed) << 1
    this.payload[at] = code
    this.payload[at + 1] = argument
    return node
  }

  /** As if no node had been made yet. */
  protected forget(): void {
    this.free = -1
    this.fresh = this.fixed
  }

  /** Forgets an event made anew that has not been popped. */
  cancel(node: number): void {
    this.payload[(node - this.fixed) << 1] = -1
  }
  /** Gives back a node made anew that was popped. */
  release(node: number): void {
    this.i32[(node << NODE_SHIFT) | NEXT] = this.free
    this.free = node
  }

  timeOf(node: number): Time {
    return this.f64[node << 1]!
  }
  orderOf(node: number): number {
    return this.i32[(node << NODE_SHIFT) | ORDER]!
  }
  codeOf(node: number): number {
    return this.payload[(node - this.fixed) << 1]!
  }
  argumentOf(node: number): number {
    return this.payload[((node - this.fixed) << 1) | 1]!
  }
  protected setOrder(node: number, order: number): void {
    this.i32[(node << NODE_SHIFT) | ORDER] = order
  }

  private grow(): void {
    const from = this.capacity
    const to = this.fixed + (from - this.fixed) * 2
    const buffer = new ArrayBuffer(to * 16)
    const i32 = new Int32Array(buffer)
    i32.set(this.i32)
    this.i32 = i32
    this.f64 = new Float64Array(buffer)
    const payload = new Int32Array((to - this.fixed) * 2)
    payload.set(this.payload)
    this.payload = payload
    this.capacity = to
  }

  // --- nodes in a heap

  private before(a: number, b: number): boolean {
    const ta = this.f64[a << 1]!
    const tb = this.f64[b << 1]!
    return ta < tb || (ta === tb && ((this.orderOf(a) - this.orderOf(b)) | 0) < 0)
  }

  /** Puts a node into a heap by time and order; the place it takes. */
  protected heapPush(heap: Array<number>, node: number): number {
    let at = heap.length
    heap.push(node)
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!this.before(node, heap[up]!)) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = node
    return at
  }

  /** Takes the first node out of a heap that has one. */
  protected heapPop(heap: Array<number>): number {
    const top = heap[0]!
    const last = heap.pop()!
    const length = heap.length
    if (length > 0) {
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= length) break
        if (child + 1 < length && this.before(heap[child + 1]!, heap[child]!)) child++
        if (!this.before(heap[child]!, last)) break
        heap[at] = heap[child]!
        at = child
      }
      heap[at] = last
    }
    return top
  }
}
