/** Frames named for one thing; of the others the number is enough. */
const FRAMES_MAX = 32
const NONE: ReadonlyArray<number> = []

/** How often something was seen, and in which frames first. */
export class Tally {
  count = 0
  #frames: Array<number> | undefined

  get frames(): ReadonlyArray<number> {
    return this.#frames ?? NONE
  }

  add(frame: number): void {
    this.count++
    // Most things never happen.
    this.#frames ??= []
    if (this.#frames.length < FRAMES_MAX) this.#frames.push(frame)
  }

  /** Forgets the last `count` of them. */
  takeBack(count: number): void {
    this.count -= count
    if (this.#frames !== undefined && this.#frames.length > this.count) this.#frames.length = this.count
  }
}
