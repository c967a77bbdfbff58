import { uniform } from "@rdmakit/units"

/** Draws of one seed, each by its number, with which a test decides everything: what a seed has shown it shows again. */
export class SeededDraws {
  private readonly seed: number
  private readonly stream: number
  private drawn = 0

  /** @param stream 32 bits: tests that try the same seeds draw from streams of their own */
  constructor(seed: number, stream: number) {
    this.seed = seed
    this.stream = stream
  }

  /** 0 to 1, 1 excluded. */
  next(): number {
    return uniform(this.seed, this.stream, this.drawn++)
  }

  /** A whole number below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  pick<A>(from: ReadonlyArray<A>): A {
    return from[this.below(from.length)]!
  }
}
