/** First in, first out, in an array that keeps its length: one that grows and shrinks costs a call into the runtime. */
export class Ring<Item> {
  private readonly items: Array<Item | undefined> = [undefined, undefined, undefined, undefined]
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

  /** Twice the room, in the same array: compiled code knows it. What came first moves to the front. */
  private grow(): void {
    const { items } = this
    const length = items.length
    // One by one: a call has not room for as many arguments as a ring has for items.
    for (const item of items.splice(0, this.left & (length - 1))) items.push(item)
    for (let more = length; more > 0; more--) items.push(undefined)
    this.left = 0
    this.came = length
  }
}
