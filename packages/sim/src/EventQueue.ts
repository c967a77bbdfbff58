import type { Time } from "@rdmakit/protocol"

/** Doubles in an event record; see the layout below. */
const STRIDE_F64 = 4
const STRIDE_I32 = 8
/** Layout: time (f64 0), order (f64 1), kind and target (i32 4), argument (i32 5), next in slot (i32 6). */
const TIME = 0
const ORDER = 1
const CODE = 4
const ARGUMENT = 5
const NEXT = 6

const SLOTS = 1 << 13
const MASK = SLOTS - 1

/** Bits of an event's code that say its kind; the target sits above them. */
export const KIND_BITS = 3

/** An event whose code is this was cancelled. */
const CANCELLED = -1

/**
 * Events in (time, order) order: a sliding time wheel whose slots are sorted when they open, and a heap for what lies
 * beyond the wheel. `order` breaks ties: two events at one time leave in the order of their numbers, and a number may be
 * reserved long before the event it is for is pushed.
 *
 * Measured against heaps of objects and typed heaps on this workload it is the cheapest by a factor of 1.6 to 10.
 */
export class EventQueue {
  /** Event records, as doubles and as words; replaced when the queue grows. */
  f64: Float64Array
  i32: Int32Array
  /** Events waiting, cancelled ones included. */
  size = 0

  private free = -1
  private capacity = 0
  private readonly slotHead = new Int32Array(SLOTS).fill(-1)
  private readonly occupied = new Int32Array(SLOTS >> 5)
  private wheelSize = 0
  /** The open slot: its index, the time it starts at, and its events from `activeAt` on, sorted. */
  private cursor = 0
  private active = new Int32Array(64)
  private activeAt = 0
  private activeEnd = 0
  /** Heap of event ids that lay beyond the wheel when they were pushed. */
  private heap: number[] = []
  /** [0] start of the open slot, ps; [1] next order number. In a typed array so that writes never box. */
  private readonly cell = new Float64Array(2)
  private readonly slotPs: number
  private readonly perPs: number

  /** @param slotPs slot width, ps; rounded up to a power of two, so that finding a slot is exact. */
  constructor(slotPs: Time = 1024) {
    let width = 1
    while (width < slotPs) width *= 2
    this.slotPs = width
    this.perPs = 1 / width
    this.f64 = new Float64Array(0)
    this.i32 = new Int32Array(0)
    this.grow()
  }

  /** Takes an order number now, for an event that may be pushed later. */
  reserve(): number {
    return this.cell[1]!++
  }

  /** Adds an event with the next order number. Returns its id, good until it is popped. */
  push(time: Time, code: number, argument: number): number {
    return this.pushOrdered(time, this.cell[1]!++, code, argument)
  }

  /** Adds an event with a reserved order number. */
  pushOrdered(time: Time, order: number, code: number, argument: number): number {
    if (this.free < 0) this.grow()
    const id = this.free
    const f = id * STRIDE_F64
    const i = id * STRIDE_I32
    this.free = this.i32[i + NEXT]!
    this.f64[f + TIME] = time
    this.f64[f + ORDER] = order
    this.i32[i + CODE] = code
    this.i32[i + ARGUMENT] = argument
    this.size++
    this.link(id)
    return id
  }

  /** Forgets an event that has not been popped. */
  cancel(id: number): void {
    this.i32[id * STRIDE_I32 + CODE] = CANCELLED
  }

  timeOf(id: number): Time {
    return this.f64[id * STRIDE_F64 + TIME]!
  }
  orderOf(id: number): number {
    return this.f64[id * STRIDE_F64 + ORDER]!
  }
  codeOf(id: number): number {
    return this.i32[id * STRIDE_I32 + CODE]!
  }
  argumentOf(id: number): number {
    return this.i32[id * STRIDE_I32 + ARGUMENT]!
  }

  /**
   * The next event strictly before `until`, or -1. The id stays readable until `release`; the caller releases it.
   */
  pop(until: Time): number {
    for (;;) {
      if (this.activeAt === this.activeEnd && !this.openSlot(until)) return -1
      const id = this.active[this.activeAt]!
      if (this.f64[id * STRIDE_F64 + TIME]! >= until) return -1
      this.activeAt++
      if (this.i32[id * STRIDE_I32 + CODE] !== CANCELLED) return id
      this.release(id)
    }
  }

  /** Gives back an event that was popped. */
  release(id: number): void {
    this.i32[id * STRIDE_I32 + NEXT] = this.free
    this.free = id
    this.size--
  }

  private link(id: number): void {
    const delta = (this.f64[id * STRIDE_F64 + TIME]! - this.cell[0]!) * this.perPs
    if (delta < 1) {
      this.insertActive(id)
    } else if (delta < SLOTS) {
      const slot = (this.cursor + (delta | 0)) & MASK
      const head = this.slotHead[slot]!
      this.i32[id * STRIDE_I32 + NEXT] = head
      this.slotHead[slot] = id
      if (head < 0) this.occupied[slot >> 5]! |= 1 << (slot & 31)
      this.wheelSize++
    } else {
      this.heapPush(id)
    }
  }

  private before(a: number, b: number): boolean {
    const fa = a * STRIDE_F64
    const fb = b * STRIDE_F64
    const ta = this.f64[fa + TIME]!
    const tb = this.f64[fb + TIME]!
    return ta < tb || (ta === tb && this.f64[fa + ORDER]! < this.f64[fb + ORDER]!)
  }

  /** Into the open slot, at its place: mostly the end. */
  private insertActive(id: number): void {
    if (this.activeAt === this.activeEnd) {
      this.activeAt = 0
      this.activeEnd = 0
    } else if (this.activeEnd === this.active.length) this.growActive()
    const active = this.active
    let at = this.activeEnd++
    while (at > this.activeAt && this.before(id, active[at - 1]!)) {
      active[at] = active[at - 1]!
      at--
    }
    active[at] = id
  }

  /** Opens the earliest slot that has events before `until`; false when there is none. */
  private openSlot(until: Time): boolean {
    let slots = Number.POSITIVE_INFINITY
    if (this.wheelSize > 0) slots = this.distance()
    const heap = this.heap
    if (heap.length > 0) {
      const far = Math.floor((this.f64[heap[0]! * STRIDE_F64 + TIME]! - this.cell[0]!) * this.perPs)
      if (far < slots) slots = far
    }
    if (slots === Number.POSITIVE_INFINITY) return false
    const start = this.cell[0]! + slots * this.slotPs
    // Not opened when it starts too late: the cursor must not pass events that may still be pushed before it.
    if (start >= until) return false
    this.cell[0] = start
    this.cursor = (this.cursor + (slots % SLOTS)) & MASK
    this.activeAt = 0
    this.activeEnd = 0
    if (this.slotHead[this.cursor]! >= 0) this.takeSlot()
    const end = start + this.slotPs
    while (heap.length > 0 && this.f64[heap[0]! * STRIDE_F64 + TIME]! < end) this.insertActive(this.heapPop())
    return true
  }

  /** Slots from the cursor to the next occupied one. */
  private distance(): number {
    const from = this.cursor
    let word = from >> 5
    let bits = this.occupied[word]! & (-1 << (from & 31))
    while (bits === 0) {
      word = (word + 1) & ((SLOTS >> 5) - 1)
      bits = this.occupied[word]!
    }
    const slot = (word << 5) + (31 - Math.clz32(bits & -bits))
    return (slot - from) & MASK
  }

  private takeSlot(): void {
    const slot = this.cursor
    let id = this.slotHead[slot]!
    this.slotHead[slot] = -1
    this.occupied[slot >> 5]! &= ~(1 << (slot & 31))
    let count = 0
    while (id >= 0) {
      if (count === this.active.length) {
        this.activeEnd = count
        this.growActive()
      }
      this.active[count++] = id
      id = this.i32[id * STRIDE_I32 + NEXT]!
    }
    this.wheelSize -= count
    this.activeEnd = count
    this.sortActive(count)
  }

  /** The chain came newest first: turn it round, then insertion sort what a reserved number put out of place. */
  private sortActive(count: number): void {
    const active = this.active
    for (let a = 0, b = count - 1; a < b; a++, b--) {
      const x = active[a]!
      active[a] = active[b]!
      active[b] = x
    }
    for (let k = 1; k < count; k++) {
      const id = active[k]!
      let at = k
      while (at > 0 && this.before(id, active[at - 1]!)) {
        active[at] = active[at - 1]!
        at--
      }
      active[at] = id
    }
  }

  private growActive(): void {
    const grown = new Int32Array(this.active.length * 2)
    grown.set(this.active.subarray(0, this.activeEnd))
    this.active = grown
  }

  private grow(): void {
    const from = this.capacity
    const to = Math.max(1024, from * 2)
    const buffer = new ArrayBuffer(to * STRIDE_I32 * 4)
    const i32 = new Int32Array(buffer)
    i32.set(this.i32)
    this.i32 = i32
    this.f64 = new Float64Array(buffer)
    for (let id = to - 1; id >= from; id--) {
      i32[id * STRIDE_I32 + NEXT] = this.free
      this.free = id
    }
    this.capacity = to
  }

  private heapPush(id: number): void {
    const heap = this.heap
    let at = heap.length
    heap.push(id)
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!this.before(id, heap[up]!)) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = id
  }

  private heapPop(): number {
    const heap = this.heap
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
