import { NEVER, type Time } from "@rdmakit/protocol"
import { EventNodes, NEXT, NODE_SHIFT, ORDER } from "./EventNodes.ts"

const TWO_32 = 2 ** 32
const SLOTS = 1 << 12
/** Room for the events of the open slot. Arrays that never grow are known to the compiler with their addresses. */
const LIST_AT_FIRST = 1 << 12
const MASK = SLOTS - 1
const REHEARSALS = 40
/** Keys stay exact below this. */
const SLOT_PS_MAX = 2 ** 20

/**
 * Events in (time, order) order: a sliding time wheel whose slots are sorted when they open, and a heap for what lies
 * beyond the wheel. `order` breaks ties: two events at one time leave in the order of their numbers, and a number may
 * be reserved long before the event it is for is scheduled. Numbers wrap at 2^32; fewer than 2^31 may be apart. Who gives
 * numbers of his own, from 0 to 2^31 - 1 (see `TieOrder`), reserves none.
 */
export class EventQueue extends EventNodes {
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
    super(fixed)
    let width = 1
    while (width < slotPs && width < SLOT_PS_MAX) width *= 2
    this.slotPs = width
    this.perPs = 1 / width
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
    this.forget()
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
    const node = this.make(time, code, argument)
    this.schedule(node, order)
    return node
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

  private readonly link = (node: number): void => {
    const delta = (this.f64[node << 1]! - this.start) * this.perPs
    if (!(delta < SLOTS)) {
      this.heapPush(this.heap, node)
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
    while (heap.length > 0 && this.f64[heap[0]! * 2]! < end) this.insertActive(this.heapPop(heap))
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
}
