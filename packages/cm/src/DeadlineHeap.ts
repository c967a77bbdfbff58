import { NEVER, type Time } from "@rdmakit/protocol"

/** What has a deadline. The heap alone writes `deadline`, `order` and `place`. */
export interface Timed {
  /** NEVER: none. */
  deadline: Time
  /** Of two that are due at one moment, the one set first comes first. */
  order: number
  /** Where it is in the heap, -1 when it is not. */
  place: number
}

/** Deadlines in order. What is cancelled leaves at once, so that it holds no more than there are timed things. */
export class DeadlineHeap<T extends Timed> {
  private readonly items: Array<T> = []
  private orders = 0

  get next(): Time {
    return this.items.length === 0 ? NEVER : this.items[0]!.deadline
  }

  /** NEVER cancels. */
  set(item: T, deadline: Time): void {
    if (item.place >= 0) this.remove(item)
    item.deadline = deadline
    if (deadline === NEVER) return
    item.order = this.orders++
    item.place = this.items.length
    this.items.push(item)
    this.up(item)
  }

  /** The first that is due at `now` or before, without its deadline; undefined: none. */
  take(now: Time): T | undefined {
    const first = this.items[0]
    if (first === undefined || first.deadline > now) return undefined
    this.set(first, NEVER)
    return first
  }

  private remove(item: T): void {
    const last = this.items.pop()!
    if (last !== item) {
      this.put(last, item.place)
      this.up(last)
      this.down(last)
    }
    item.place = -1
  }

  private put(item: T, place: number): void {
    this.items[place] = item
    item.place = place
  }

  private up(item: T): void {
    while (item.place > 0) {
      const parent = this.items[(item.place - 1) >> 1]!
      if (before(parent, item)) return
      const place = parent.place
      this.put(parent, item.place)
      this.put(item, place)
    }
  }

  private down(item: T): void {
    for (;;) {
      const left = this.items[2 * item.place + 1]
      const right = this.items[2 * item.place + 2]
      const child = right !== undefined && left !== undefined && before(right, left) ? right : left
      if (child === undefined || before(item, child)) return
      const place = child.place
      this.put(child, item.place)
      this.put(item, place)
    }
  }
}

const before = (a: Timed, b: Timed): boolean =>
  a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order)
