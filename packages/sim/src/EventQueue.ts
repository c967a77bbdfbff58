import { NEVER, type Time } from "@rdmakit/protocol"

/** A node is 16 bytes: time (a double), order number, next node in its slot. */
const NODE_SHIFT = 2
const ORDER = 2
const NEXT = 3

const TWO_32 = 2 ** 32
const SLOTS = 1 << 12
/**
 * Room for the events of the open slot, and for those made by `push`. Arrays that never grow are known to the compiler
 * with their addresses; what is not used of them is not touched, and costs nothing.
 */
const LIST_AT_FIRST = 1 << 12
const PUSHED_AT_FIRST = 1 << 16
const MASK = SLOTS - 1
const REHEARSALS = 40
/** Keys stay exact below this. */
const SLOT_PS_MAX = 2 ** 20

/**
 * Events in (time, order) order: a sliding time wheel whose slots are sorted when they open, and a heap for what lies
 * beyond the wheel. `order` breaks ties: two events at one time leave in the order of their numbers, and a number may
 * be reserved long before the event it is for is scheduled. Numbers wrap at 2^32; fewer than 2^31 may be apart. Who gives
 * numbers of his own, from 0 to 2^31 - 1 (see `TieOrder`), reserves none.
 *
 * There are two kinds of node. The first `fixed` ones belong to the owner for good (one for each thing that waits for
 * at most one event, a port's next arrival, say): they are scheduled again and again, never allocated. The others are
 * made by `push` and live until they are popped. So the memory an event touches stays small, which is what it costs.
 */
export class EventQueue {
  /** Nodes, as doubles (time at 2·id) and as words; replaced when the queue grows. */
  f64: Float64Array
  i32: Int32Array

  private readonly fixed: number
  /** Nodes given back, a list; and the first that was never given out. */
  private free = -1
  private fresh: number
  private capacity: number
  /** Of nodes made by `push`, two words each: a code (-1: cancelled) and an argument. */
  private payload: Int32Array
  private readonly slotHead = new Int32Array(SLOTS).fill(-1)
  private readonly occupied = new Int32Array(SLOTS >> 5)
  /** Slots that have events. */
  private slotsOccupied = 0
  /** The open slot: its index, and its events, sorted, which end where the list does: from `activeAt` on. */
  private cursor = 0
  active = new Int32Array(LIST_AT_FIRST)
  /** What the active list is sorted by: ps since the slot started · 2^32 + order number since then; exact in a double. */
  private keys = new Float64Array(LIST_AT_FIRST)
  activeAt = LIST_AT_FIRST
  /** Sees the nodes of a slot that has just been opened, before any is popped: the owner may fetch what they are about. */
  onOpen: ((nodes: Int32Array, from: number) => void) | undefined = undefined
  /** Nodes that lay beyond the wheel when they were scheduled. */
  private readonly heap: Array<number> = []
  /** Start of the open slot, ps. */
  private start: Time
  /** Order numbers are words: the next one, and the one that keys count from. */
  private nextOrder = 0
  private baseOrder = 0
  private readonly slotPs: number
  private readonly perPs: number

  /**
   * @param fixed nodes that belong to the owner, 0 to fixed - 1
   * @param slotPs slot width, ps; rounded up to a power of two, so that finding a slot is exact. At most 2^20
   */
  constructor(fixed: number, slotPs: Time) {
    let width = 1
    while (width < slotPs && width < SLOT_PS_MAX) width *= 2
    this.slotPs = width
    this.perPs = 1 / width
    this.fixed = fixed
    this.fresh = fixed
    this.capacity = fixed + PUSHED_AT_FIRST
    this.payload = new Int32Array(2 * PUSHED_AT_FIRST)
    const buffer = new ArrayBuffer(this.capacity * 16)
    this.f64 = new Float64Array(buffer)
    this.i32 = new Int32Array(buffer)
    // Known to be a double from the first event on: times outgrow small integers in the middle of a run.
    this.start = NEVER
    this.start = 0
    this.rehearse()
  }

  /**
   * Does what is rare, before there is compiled code that it would make void (docs/adr/0007), and so often that it is
   * noted: events in the wheel and beyond come and go, some so far that slots outgrow small integers. All is as it was then.
   */
  private rehearse(): void {
    for (let round = 0; round < REHEARSALS; round++) {
      for (const slots of [0, 1, 2 * SLOTS, 4 * SLOTS, 3 * SLOTS, 3 * SLOTS, 2 ** 33])
        this.push(slots * this.slotPs, 0, 0)
      for (let node = this.pop(NEVER); node >= 0; node = this.pop(NEVER)) this.release(node)
      this.start = 0
    }
    this.cursor = 0
    this.baseOrder = 0
    this.nextOrder = 0
    this.free = -1
    this.fresh = this.fixed
  }

  /** Takes order numbers, `count` in a row; the first of them. */
  reserve(count: number): number {
    const first = this.nextOrder
    this.nextOrder = (first + count) | 0
    return first
  }

  /** Schedules a fixed node that is not scheduled: its time must have been written to `f64[2 · node]`. */
  readonly schedule = (node: number, order: number): void => {
    this.i32[(node << NODE_SHIFT) | ORDER] = order
    this.link(node)
  }

  /** Adds an event, by default with the next order number; its node is good until it is popped. */
  push(time: Time, code: number, argument: number, order = this.reserve(1)): number {
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
    this.schedule(node, order)
    return node
  }

  /** Forgets an event made by `push` that has not been popped. */
  cancel(node: number): void {
    this.payload[(node - this.fixed) << 1] = -1
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

  /** Whether no event waits, not even a cancelled one. */
  get isEmpty(): boolean {
    return this.slotsOccupied === 0 && this.heap.length === 0 && this.activeAt === this.active.length
  }

  /** Events waiting, cancelled ones included; counted when asked. */
  get size(): number {
    let count = this.heap.length + this.active.length - this.activeAt
    for (const head of this.slotHead) {
      for (let node = head; node >= 0; node = this.i32[(node << NODE_SHIFT) | NEXT]!) count++
    }
    return count
  }

  // What runs for each event is a field that holds a function: where there is one queue, the compiler then knows it, and
  // its arrays with it.

  /**
   * The next event strictly before `until`, or -1. One made by `push` must be given back with `release`. (A kernel that
   * executes millions does the same by itself: see `ExactKernel.run`.)
   */
  readonly pop = (until: Time): number => {
    for (;;) {
      const at = this.activeAt
      if (at === this.active.length) {
        if (!this.openSlot(until)) return -1
        continue
      }
      const node = this.active[at]!
      if (this.f64[node << 1]! >= until) return -1
      this.activeAt = at + 1
      if (node < this.fixed || this.codeOf(node) >= 0) return node
      // It was cancelled.
      this.release(node)
    }
  }

  /** Gives back a node made by `push` that was popped. */
  release(node: number): void {
    this.i32[(node << NODE_SHIFT) | NEXT] = this.free
    this.free = node
  }

  private readonly link = (node: number): void => {
    const delta = (this.f64[node << 1]! - this.start) * this.perPs
    if (!(delta < SLOTS)) {
      this.heapPush(node)
      return
    }
    const ahead = delta | 0
    if (ahead === 0) {
      this.insertActive(node)
      return
    }
    const slot = (this.cursor + ahead) & MASK
    const head = this.slotHead[slot]!
    this.i32[(node << NODE_SHIFT) | NEXT] = head
    this.slotHead[slot] = node
    if (head < 0) {
      this.occupied[slot >> 5]! |= 1 << (slot & 31)
      this.slotsOccupied++
    }
  }

  private before(a: number, b: number): boolean {
    const ta = this.f64[a << 1]!
    const tb = this.f64[b << 1]!
    return (
      ta < tb || (ta === tb && ((this.i32[(a << NODE_SHIFT) | ORDER]! - this.i32[(b << NODE_SHIFT) | ORDER]!) | 0) < 0)
    )
  }

  /** What the open slot's events are sorted by. */
  private keyOf(node: number): number {
    return (
      (this.f64[node << 1]! - this.start) * TWO_32 + ((this.i32[(node << NODE_SHIFT) | ORDER]! - this.baseOrder) | 0)
    )
  }

  /** Into the open slot, at its place: the events before it move up by one. */
  private readonly insertActive = (node: number): void => {
    if (this.activeAt === 0) this.growActive()
    const { active, keys } = this
    const key = this.keyOf(node)
    let at = --this.activeAt
    while (at + 1 < active.length && keys[at + 1]! < key) {
      active[at] = active[at + 1]!
      keys[at] = keys[at + 1]!
      at++
    }
    active[at] = node
    keys[at] = key
  }

  /** Opens the earliest slot that has events before `until`; false when there is none. */
  readonly openSlot = (until: Time): boolean => {
    const heap = this.heap
    let slots = this.slotsOccupied > 0 ? this.distance() : -1
    if (heap.length > 0) {
      const far = Math.floor((this.f64[heap[0]! * 2]! - this.start) * this.perPs)
      if (slots < 0 || far < slots) slots = far
    }
    if (slots < 0) return false
    const start = this.start + slots * this.slotPs
    // Not opened when it starts too late: the cursor must not pass events that may still be scheduled before it.
    if (start >= until) return false
    this.start = start
    this.cursor = (this.cursor + (slots % SLOTS)) & MASK
    this.baseOrder = this.nextOrder
    if (this.slotHead[this.cursor]! >= 0) this.takeSlot()
    const end = start + this.slotPs
    while (heap.length > 0 && this.f64[heap[0]! * 2]! < end) this.insertActive(this.heapPop())
    if (this.onOpen !== undefined) this.onOpen(this.active, this.activeAt)
    return true
  }

  /** Slots from the cursor to the next occupied one. */
  private readonly distance = (): number => {
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

  /** The slot's chain becomes the list, sorted. It is newest first, so that each event mostly goes before all others. */
  private readonly takeSlot = (): void => {
    const slot = this.cursor
    const { f64, i32, start, baseOrder } = this
    let node = this.slotHead[slot]!
    this.slotHead[slot] = -1
    this.occupied[slot >> 5]! &= ~(1 << (slot & 31))
    this.slotsOccupied--
    let { active, keys } = this
    let from = active.length
    while (node >= 0) {
      if (from === 0) {
        this.activeAt = from
        this.growActive()
        active = this.active
        keys = this.keys
        from = this.activeAt
      }
      const key = (f64[node << 1]! - start) * TWO_32 + ((i32[(node << NODE_SHIFT) | ORDER]! - baseOrder) | 0)
      let at = --from
      for (let next = at + 1; next < active.length; next++) {
        const other = keys[next]!
        if (other >= key) break
        keys[at] = other
        active[at] = active[next]!
        at = next
      }
      active[at] = node
      keys[at] = key
      node = i32[(node << NODE_SHIFT) | NEXT]!
    }
    this.activeAt = from
  }

  /** Twice the room, in front. */
  private growActive(): void {
    const from = this.active.length
    const active = new Int32Array(from * 2)
    active.set(this.active, from)
    this.active = active
    const keys = new Float64Array(from * 2)
    keys.set(this.keys, from)
    this.keys = keys
    this.activeAt += from
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

  private heapPush(node: number): void {
    const heap = this.heap
    let at = heap.length
    heap.push(node)
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!this.before(node, heap[up]!)) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = node
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
