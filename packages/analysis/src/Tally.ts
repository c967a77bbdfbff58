/** Frames named for one thing; of the others the number is enough. */
const FRAMES_MAX = 32

/** How often something was seen, and in which frames first. */
export class Tally {
  count = 0
  readonly frames: Array<number> = []

  add(frame: number): void {
    this.count++
    if (this.frames.length < FRAMES_MAX) this.frames.push(frame)
  }
}
