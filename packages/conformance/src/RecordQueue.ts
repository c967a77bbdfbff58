/** First in, first out: records of a fixed number of doubles in one ring, which doubles when it is full. */
export class RecordQueue {
  length = 0
  /** The records. Those of `head` and `push` are at their place until the next `push`. */
  ring: Float64Array
  /** Where the oldest record is. */
  head = 0
  private readonly fields: number

  constructor(fields: number) {
    this.fields = fields
    this.ring = new Float64Array(fields * 64)
  }

  /** Makes room for a record behind the newest, and returns its place. What it holds is left over from another. */
  push(): number {
    if (this.length * this.fields === this.ring.length) this.grow()
    const at = this.head + this.length * this.fields
    this.length++
    return at < this.ring.length ? at : at - this.ring.length
  }

  /** Drops the oldest record. */
  shift(): void {
    this.head += this.fields
    if (this.head === this.ring.length) this.head = 0
    this.length--
  }

  private grow(): void {
    const ring = new Float64Array(this.ring.length * 2)
    ring.set(this.ring.subarray(this.head))
    ring.set(this.ring.subarray(0, this.head), this.ring.length - this.head)
    this.ring = ring
    this.head = 0
  }
}
