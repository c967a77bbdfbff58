import { NEVER, type Time } from "@rdmakit/protocol"

/** Items by time, the earliest first; equal times leave in the order they came. An item is in it once at most. */
export class PaceHeap<Item> {
  private readonly items: Array<Item> = []
  private times = new Float64Array(16)
  private orders = new Float64Array(16)
  private order = 0

  get size(): number {
    return this.items.length
  }
  /** Earliest time; NEVER when empty. */
  get least(): Time {
    return this.items.length === 0 ? NEVER : this.times[0]!
  }

  push(item: Item, time: Time): void {
    const at = this.items.length
    if (at === this.times.length) this.grow()
    this.items.push(item)
    this.times[at] = time
    this.orders[at] = this.order++
    this.up(at)
  }

  pop(): Item {
    const top = this.items[0]!
    const last = this.items.length - 1
    this.move(last, 0)
    this.items.pop()
    if (last > 0) this.down(0)
    return top
  }

  /** Changes the time of an item that is in the heap. */
  update(item: Item, time: Time): void {
    const at = this.items.indexOf(item)
    if (at < 0) return
    this.times[at] = time
    this.up(at)
    this.down(at)
  }

  private before(a: number, b: number): boolean {
    const ta = this.times[a]!
    const tb = this.times[b]!
    return ta < tb || (ta === tb && this.orders[a]! < this.orders[b]!)
  }

  private move(from: number, to: number): void {
    this.items[to] = this.items[from]!
    this.times[to] = this.times[from]!
    this.orders[to] = this.orders[from]!
  }

  private swap(a: number, b: number): void {
    const item = this.items[a]!
    const time = this.times[a]!
    const order = this.orders[a]!
    this.move(b, a)
    this.items[b] = item
    this.times[b] = time
    this.orders[b] = order
  }

  private up(start: number): void {
    let at = start
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.before(at, parent)) break
      this.swap(at, parent)
      at = parent
    }
  }

  private down(start: number): void {
    const count = this.items.length
    let at = start
    for (;;) {
      let child = 2 * at + 1
      if (child >= count) break
      if (child + 1 < count && this.before(child + 1, child)) child++
      if (!this.before(child, at)) break
      this.swap(at, child)
      at = child
    }
  }

  private grow(): void {
    const times = new Float64Array(this.times.length * 2)
    times.set(this.times)
    this.times = times
    const orders = new Float64Array(times.length)
    orders.set(this.orders)
    this.orders = orders
  }
}
