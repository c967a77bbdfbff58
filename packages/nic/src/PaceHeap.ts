import { NEVER, type Time } from "@rdmakit/protocol"
import { NOWHERE, type Placed } from "./Placed.ts"

/** Items there is room for at first. */
const FIRST = 16

/**
 * Items by time, the earliest first; equal times leave in the order they came. An item is in it once at most, and knows
 * where: each change costs the logarithm of the size.
 */
export class PaceHeap<Item extends Placed> {
  private count = 0
  /** Arrays of one length, whatever the size: to change an array's length costs a call into the runtime. */
  private items: Array<Item | undefined> = new Array(FIRST).fill(undefined)
  private times = new Float64Array(FIRST)
  private orders = new Float64Array(FIRST)
  private order = 0

  get size(): number {
    return this.count
  }
  /** Earliest time; NEVER when empty. */
  get least(): Time {
    return this.count === 0 ? NEVER : this.times[0]!
  }

  push(item: Item, time: Time): void {
    const at = this.count
    if (at === this.times.length) this.grow()
    this.count = at + 1
    this.rise(at, item, time, this.order++)
  }

  /** Takes the earliest item out; there must be one. */
  pop(): Item {
    const { items } = this
    const top = items[0]!
    const count = this.count - 1
    const last = items[count]!
    items[count] = undefined
    this.count = count
    if (count > 0) this.sink(0, last, this.times[count]!, this.orders[count]!)
    top.place = NOWHERE
    return top
  }

  /** Changes the time of an item that is in the heap; among equals it keeps its turn. */
  update(item: Item, time: Time): void {
    const at = item.place
    const order = this.orders[at]!
    if (time < this.times[at]!) this.rise(at, item, time, order)
    else this.sink(at, item, time, order)
  }

  private put(at: number, item: Item, time: Time, order: number): void {
    this.items[at] = item
    this.times[at] = time
    this.orders[at] = order
    item.place = at
  }

  /** Puts an item where it belongs, between the root and the hole at `hole`. */
  private rise(hole: number, item: Item, time: Time, order: number): void {
    let at = hole
    while (at > 0) {
      const parent = (at - 1) >> 1
      const parentTime = this.times[parent]!
      if (parentTime < time || (parentTime === time && this.orders[parent]! < order)) break
      this.put(at, this.items[parent]!, parentTime, this.orders[parent]!)
      at = parent
    }
    this.put(at, item, time, order)
  }

  /** Puts an item where it belongs, between the hole at `hole` and the leaves. */
  private sink(hole: number, item: Item, time: Time, order: number): void {
    const { count } = this
    let at = hole
    for (let child = 2 * at + 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && this.before(child + 1, child)) child++
      const childTime = this.times[child]!
      if (time < childTime || (time === childTime && order < this.orders[child]!)) break
      this.put(at, this.items[child]!, childTime, this.orders[child]!)
      at = child
    }
    this.put(at, item, time, order)
  }

  private before(a: number, b: number): boolean {
    const timeA = this.times[a]!
    const timeB = this.times[b]!
    return timeA < timeB || (timeA === timeB && this.orders[a]! < this.orders[b]!)
  }

  private grow(): void {
    this.items = [...this.items, ...new Array(this.count).fill(undefined)]
    const times = new Float64Array(this.times.length * 2)
    times.set(this.times)
    this.times = times
    const orders = new Float64Array(times.length)
    orders.set(this.orders)
    this.orders = orders
  }
}
