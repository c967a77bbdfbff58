const HALF = 0x8000_0000

/**
 * Puts what a peer numbered back in order (`efa_rdm_peer_reorder_msg`): a window of so many numbers from the next one on,
 * and an overflow for what is past it. Numbers are 32 bits and wrap to 0. What has one number is kept together. Unlike
 * libfabric, which looks through its overflow once a window, it moves each to the window when that reaches it.
 */
export class ReorderWindow<A> {
  /** The number that is wanted next. */
  next: number
  private readonly size: number
  private readonly window: Array<Array<A> | undefined>
  private readonly overflow = new Map<number, Array<A>>()

  /** `size` is a power of two. */
  constructor(size: number, next = 0) {
    this.size = size
    this.next = next
    this.window = new Array<Array<A> | undefined>(size).fill(undefined)
  }

  /** Numbers in the overflow. */
  get overflowed(): number {
    return this.overflow.size
  }

  verdict(number: number): "next" | "ahead" | "past" {
    if (number === this.next) return "next"
    return this.distance(number) < HALF ? "ahead" : "past"
  }

  /** Keeps one that is ahead; says whether it is the first of its number, and where it went. */
  store(number: number, item: A): { readonly first: boolean; readonly inOverflow: boolean } {
    const inOverflow = this.distance(number) >= this.size
    const kept = inOverflow ? this.overflow.get(number) : this.window[number & (this.size - 1)]
    if (kept !== undefined) kept.push(item)
    else if (inOverflow) this.overflow.set(number, [item])
    else this.window[number & (this.size - 1)] = [item]
    return { first: kept === undefined, inOverflow }
  }

  /** What is kept of the next number. */
  get waiting(): Array<A> | undefined {
    return this.window[this.next & (this.size - 1)]
  }

  /** The next one has been dealt with. */
  advance(): void {
    this.window[this.next & (this.size - 1)] = undefined
    this.next = (this.next + 1) >>> 0
    const last = (this.next + this.size - 1) >>> 0
    const reached = this.overflow.get(last)
    if (reached === undefined) return
    this.overflow.delete(last)
    this.window[last & (this.size - 1)] = reached
  }

  /** Drops all that is kept; returns the sum of what `size` says of each. */
  clear(size: (item: A) => number): number {
    let sum = 0
    for (const kept of [...this.window, ...this.overflow.values()]) for (const item of kept ?? []) sum += size(item)
    this.window.fill(undefined)
    this.overflow.clear()
    return sum
  }

  private distance(number: number): number {
    return (number - this.next) >>> 0
  }
}
