import { NEVER, type Time } from "@rdmakit/protocol"

/** Times of things that are numbered from 0 on, each at most once: the least is at hand. A heap that knows its places. */
export class Schedule {
  private readonly heap: Array<number> = []
  private readonly times: Array<Time> = []
  /** Where a number stands in the heap; -1: it does not. */
  private readonly places: Array<number> = []

  /** NEVER when there is none. */
  get least(): Time {
    return this.heap.length === 0 ? NEVER : this.times[this.heap[0]!]!
  }
  /** Whose it is; -1: nobody's. */
  get first(): number {
    return this.heap[0] ?? -1
  }

  /** @param time NEVER takes it out */
  set(number: number, time: Time): void {
    const { heap, places, times } = this
    while (places.length <= number) {
      places.push(-1)
      times.push(0)
    }
    const at = places[number]!
    if (at < 0) {
      if (time === NEVER) return
      times[number] = time
      this.rise(heap.push(number) - 1, number)
      return
    }
    const before = times[number]!
    if (before === time) return
    times[number] = time
    if (time === NEVER) this.remove(at, number)
    else if (time < before) this.rise(at, number)
    else this.sink(at, number)
  }

  private remove(at: number, number: number): void {
    const { heap, places, times } = this
    places[number] = -1
    const last = heap.pop()!
    if (last === number) return
    const above = (at - 1) >> 1
    if (at > 0 && times[last]! < times[heap[above]!]!) this.rise(at, last)
    else this.sink(at, last)
  }

  private rise(from: number, number: number): void {
    const { heap, places, times } = this
    const time = times[number]!
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = heap[above]!
      if (times[other]! <= time) break
      heap[at] = other
      places[other] = at
      at = above
    }
    heap[at] = number
    places[number] = at
  }

  private sink(from: number, number: number): void {
    const { heap, places, times } = this
    const time = times[number]!
    const { length } = heap
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= length) break
      if (below + 1 < length && times[heap[below + 1]!]! < times[heap[below]!]!) below++
      const other = heap[below]!
      if (times[other]! >= time) break
      heap[at] = other
      places[other] = at
      at = below
    }
    heap[at] = number
    places[number] = at
  }
}
