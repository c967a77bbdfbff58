/** First in, first out. What has left is dropped now and then, not at each turn. */
export class Fifo<A> {
  private items: Array<A> = []
  private start = 0

  get length(): number {
    return this.items.length - this.start
  }

  /** The oldest. */
  get first(): A | undefined {
    return this.items[this.start]
  }

  push(item: A): void {
    this.items.push(item)
  }

  shift(): A | undefined {
    if (this.length === 0) return undefined
    const item = this.items[this.start++]
    if (this.start === this.items.length) {
      this.items.length = 0
      this.start = 0
    } else if (this.start >= 64 && this.start * 2 >= this.items.length) {
      this.items = this.items.slice(this.start)
      this.start = 0
    }
    return item
  }
}
