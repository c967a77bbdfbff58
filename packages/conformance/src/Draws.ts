/** A short reproducible stream of numbers: the 32-bit generator of Numerical Recipes, its upper 24 bits. */
export class Draws {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** 0 to 1, 1 excluded. */
  next(): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return (this.state >>> 8) / 2 ** 24
  }

  /** A whole number below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  pick<A>(from: readonly [A, ...ReadonlyArray<A>]): A {
    return from[this.below(from.length)] ?? from[0]
  }
}
