/** A count for each index from 0 on, as many as are asked for. */
export class Ordinals {
  private counts = new Float64Array(64)

  /** How often this index was asked for before. */
  next(index: number): number {
    if (index >= this.counts.length) {
      const grown = new Float64Array(2 * index + 1)
      grown.set(this.counts)
      this.counts = grown
    }
    return this.counts[index]!++
  }
}
