import { NEVER, type Time } from "@rdmakit/protocol"
import { NOWHERE, type Placed } from "./Placed.ts"

/**
 * Items by time, the earliest first; equal times leave in the order they came. An item is in it once at most, and knows
 * where: each change costs the logarithm of the size.
 *
 * A NIC has one for each port, and mostly a few items in it: it is as small as can be, for it has left the cache when the
 * port's next packet is due. Its arrays never get shorter: to change an array's length costs a call into the runtime.
 */
export class PaceHeap<Item extends Placed> {
  private count = 0
  private order = 0
  private readonly items: Array<Item | undefined> = [undefined, undefined, undefined, undefined]
  /** Two numbers for each item: its time, and its order. */
  private readonly keys: Array<number> = [NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER]

  get size(): number {
    return this.count
  }
  /** Earliest time; NEVER when empty. */
  get least(): Time {
    return this.count === 0 ? NEVER : this.keys[0]!
  }

  push(item: Item, time: Time): void {
    const at = this.count
    if (at === this.items.length) this.grow()
    this.count = at + 1
    this.rise(at, item, time, this.order++)
  }

  /** Takes the earliest item out; there must be one. */
  pop(): Item {
    const { items, keys } = this
    const top = items[0]!
    const count = this.count - 1
    const last = items[count]!
    items[count] = undefined
    this.count = count
    if (count > 0) this.sink(0, last, keys[2 * count]!, keys[2 * count + 1]!)
    top.place = NOWHERE
    return top
  }

  /** Changes the time of an item that is in the heap; among equals it keeps its turn. */
  update(item: Item, time: Time): void {
    const at = item.place
    const order = this.keys[2 * at + 1]!
    if (time < this.keys[2 * at]!) this.rise(at, item, time, order)
    else this.sink(at, item, time, order)
  }

  private put(at: number, item: Item, time: Time, order: number): void {
    this.items[at] = item
    this.keys[2 * at] = time
    this.keys[2 * at + 1] = order
    item.place = at
  }

  /** Puts an item where it belongs, between the root and the hole at `hole`. */
  private rise(hole: number, item: Item, time: Time, order: number): void {
    let at = hole
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.isAfter(parent, time, order)) break
      this.put(at, this.items[parent]!, this.keys[2 * parent]!, this.keys[2 * parent + 1]!)
      at = parent
    }
    this.put(at, item, time, order)
  }

  /** Puts an item where it belongs, between the hole at `hole` and the leaves. */
  private sink(hole: number, item: Item, time: Time, order: number): void {
    const { count, keys } = this
    let at = hole
    for (let child = 2 * at + 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && this.isAfter(child, keys[2 * child + 2]!, keys[2 * child + 3]!)) child++
      if (this.isAfter(child, time, order)) break
      this.put(at, this.items[child]!, keys[2 * child]!, keys[2 * child + 1]!)
      at = child
    }
    this.put(at, item, time, order)
  }

  /** Whether what stands there is due after a time and order. */
  private isAfter(at: number, time: Time, order: number): boolean {
    const own = this.keys[2 * at]!
    return own > time || (own === time && this.keys[2 * at + 1]! > order)
  }

  /** Twice the room, in the same arrays: compiled code knows them. */
  private grow(): void {
    for (let more = this.items.length; more > 0; more--) {
      this.items.push(undefined)
      this.keys.push(NEVER, NEVER)
    }
  }
}
