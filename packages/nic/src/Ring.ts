/** First in, first out, in an array that keeps its length: one that grows and shrinks costs a call into the runtime. */
export class Ring<Item> {
  private items: Array<Item | undefined> = new Array(4).fill(undefined)
  /** How many ever came, and left; where they are is that number modulo the length, a power of two. */
  private came = 0
  private left = 0

  get isEmpty(): boolean {
    return this.came === this.left
  }

  push(item: Item): void {
    if (((this.came - this.left) | 0) === this.items.length) this.grow()
    this.items[this.came & (this.items.length - 1)] = item
    this.came = (this.came + 1) | 0
  }

  /** Takes out the one that came first; there must be one. */
  shift(): Item {
    const { items } = this
    const at = this.left & (items.length - 1)
    const item = items[at]!
    items[at] = undefined
    this.left = (this.left + 1) | 0
    return item
  }

  private grow(): void {
    const { items, left } = this
    const from = left & (items.length - 1)
    this.items = [...items.slice(from), ...items.slice(0, from), ...new Array(items.length).fill(undefined)]
    this.came = items.length
    this.left = 0
  }
}
