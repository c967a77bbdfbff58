/**
 * Numbers that are in, as disjoint ranges in order: what a receiver has out of order, and what a sender knows of it. A
 * range is a first number and an end that is not in it.
 */
export class Intervals {
  private readonly starts: Array<number> = []
  private readonly ends: Array<number> = []
  /** After `add`: the range that now holds what was added. */
  start = 0
  end = 0

  get count(): number {
    return this.starts.length
  }
  startOf(index: number): number {
    return this.starts[index]!
  }
  endOf(index: number): number {
    return this.ends[index]!
  }

  clear(): void {
    this.starts.length = 0
    this.ends.length = 0
  }

  /** Index of the first range that ends after `number`. */
  private after(number: number): number {
    let low = 0
    let high = this.ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.ends[middle]! > number) high = middle
      else low = middle + 1
    }
    return low
  }

  has(number: number): boolean {
    const index = this.after(number)
    return index < this.starts.length && this.starts[index]! <= number
  }

  /** The first number from `from` on that is not in. */
  firstMissing(from: number): number {
    const index = this.after(from)
    return index < this.starts.length && this.starts[index]! <= from ? this.ends[index]! : from
  }

  /** Where the range that holds `number` starts. */
  blockStart(number: number): number {
    return this.starts[this.after(number)]!
  }

  /** The end of the stretch from `from`, which is missing, up to the next range, or `most`. */
  missingUntil(from: number, most: number): number {
    const index = this.after(from)
    return index < this.starts.length && this.starts[index]! < most ? this.starts[index]! : most
  }

  /** Puts a range in, joined with those it touches. */
  add(start: number, end: number): void {
    // The first that ends at or after `start`, and the first that starts after `end`.
    const from = this.after(start - 1)
    let to = from
    let first = start
    let last = end
    while (to < this.starts.length && this.starts[to]! <= end) {
      if (this.starts[to]! < first) first = this.starts[to]!
      if (this.ends[to]! > last) last = this.ends[to]!
      to++
    }
    this.start = first
    this.end = last
    if (to === from + 1) {
      this.starts[from] = first
      this.ends[from] = last
      return
    }
    this.starts.splice(from, to - from, first)
    this.ends.splice(from, to - from, last)
  }

  /** Takes out everything before `number`. */
  trim(number: number): void {
    const index = this.after(number)
    if (index > 0) {
      this.starts.splice(0, index)
      this.ends.splice(0, index)
    }
    if (this.starts.length > 0 && this.starts[0]! < number) this.starts[0] = number
  }
}
