import { NEVER, type Time, type VerbsEngine } from "@rdmakit/protocol"
import { HeldAck } from "./HeldAck.ts"

/** An engine's place among those that take turns. */
export interface Slot {
  readonly engine: VerbsEngine
  /** It waits for its turn. */
  queued: boolean
  /** The world still has it. */
  attached: boolean
  /** When it is woken; NEVER when it is not. May be earlier than it needs: it is then put off. */
  wake: Time
  /** Its place in the heap; -1: none. */
  place: number
  next: Slot | undefined
  readonly ack: HeldAck
}

/** Engines that want a turn, in the order they asked for it, and those to be woken, the first on top. */
export class Turns {
  /** Those that wait for a turn, a list through their `next`. */
  private first: Slot | undefined = undefined
  private last: Slot | undefined = undefined
  /** How many wait for a turn. */
  waiting = 0
  private readonly heap: Array<Slot> = []
  private readonly slots = new Map<VerbsEngine, Slot>()

  /** The place of an engine, which is made when it has none. */
  slotOf(engine: VerbsEngine): Slot {
    let slot = this.slots.get(engine)
    if (slot === undefined) {
      slot = { engine, queued: false, attached: true, wake: NEVER, place: -1, next: undefined, ack: new HeldAck() }
      this.slots.set(engine, slot)
    }
    return slot
  }

  find(engine: VerbsEngine): Slot | undefined {
    return this.slots.get(engine)
  }

  queue(slot: Slot): void {
    if (slot.queued || !slot.attached) return
    slot.queued = true
    if (this.last === undefined) this.first = slot
    else this.last.next = slot
    this.last = slot
    this.waiting++
  }

  /** The next whose turn it is. */
  take(): Slot | undefined {
    for (let slot = this.first; slot !== undefined; slot = this.first) {
      this.first = slot.next
      if (slot.next === undefined) this.last = undefined
      slot.next = undefined
      slot.queued = false
      this.waiting--
      if (slot.attached) return slot
    }
    return undefined
  }

  remove(engine: VerbsEngine): void {
    const slot = this.slots.get(engine)
    if (slot === undefined) return
    slot.attached = false
    this.slots.delete(engine)
    if (slot.place >= 0) this.unheap(slot)
  }

  /** When the first is to be woken. */
  get nextWake(): Time {
    return this.heap[0]?.wake ?? NEVER
  }

  /** Takes the first from the heap when it is due. */
  takeDue(now: Time): Slot | undefined {
    const slot = this.heap[0]
    if (slot === undefined || slot.wake > now) return undefined
    this.unheap(slot)
    return slot
  }

  /**
   * The engine wants to be woken at `time`. A wake that is already set for earlier stays: most are put off again and again,
   * by every packet, before they come.
   */
  wakeAt(slot: Slot, time: Time): void {
    if (time >= slot.wake) return
    slot.wake = time
    if (slot.place < 0) {
      slot.place = this.heap.length
      this.heap.push(slot)
    }
    this.up(slot.place)
  }

  private unheap(slot: Slot): void {
    const { heap } = this
    const last = heap.pop()!
    const at = slot.place
    slot.place = -1
    slot.wake = NEVER
    if (last === slot) return
    heap[at] = last
    last.place = at
    this.up(at)
    this.down(last.place)
  }

  private up(from: number): void {
    const { heap } = this
    const slot = heap[from]!
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = heap[above]!
      if (other.wake <= slot.wake) break
      heap[at] = other
      other.place = at
      at = above
    }
    heap[at] = slot
    slot.place = at
  }

  private down(from: number): void {
    const { heap } = this
    const slot = heap[from]!
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && heap[below + 1]!.wake < heap[below]!.wake) below++
      const other = heap[below]!
      if (other.wake >= slot.wake) break
      heap[at] = other
      other.place = at
      at = below
    }
    heap[at] = slot
    slot.place = at
  }
}
