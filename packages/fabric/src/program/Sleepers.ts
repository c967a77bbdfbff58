import { NEVER, type Time } from "@rdmakit/protocol"

/** One who sleeps: until when, and what to do then. */
export interface Sleeper {
  readonly time: Time
  readonly order: number
  readonly wake: () => void
  isGone: boolean
}

/** Those who sleep, by time and, at one time, by who lay down first. */
export class Sleepers {
  private readonly heap: Array<Sleeper> = []
  private order = 0
  /** Those who have not gone. */
  count = 0

  add(time: Time, wake: () => void): Sleeper {
    const sleeper: Sleeper = { time, order: this.order++, wake, isGone: false }
    this.count++
    const { heap } = this
    let at = heap.length
    heap.push(sleeper)
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!isBefore(sleeper, heap[up]!)) break
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = sleeper
    return sleeper
  }

  /** It is not to be woken any more. */
  remove(sleeper: Sleeper): void {
    if (sleeper.isGone) return
    sleeper.isGone = true
    this.count--
  }

  /** When the next is to be woken; NEVER: nobody sleeps. */
  get next(): Time {
    while (this.heap.length > 0 && this.heap[0]!.isGone) this.pop()
    return this.heap.length === 0 ? NEVER : this.heap[0]!.time
  }

  /** The next of those who are to be woken by `now`; undefined: there is none. */
  take(now: Time): Sleeper | undefined {
    if (this.next > now) return undefined
    const sleeper = this.pop()
    this.remove(sleeper)
    return sleeper
  }

  private pop(): Sleeper {
    const { heap } = this
    const top = heap[0]!
    const last = heap.pop()!
    const { length } = heap
    if (length === 0) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= length) break
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return top
  }
}

const isBefore = (a: Sleeper, b: Sleeper): boolean => a.time < b.time || (a.time === b.time && a.order < b.order)
