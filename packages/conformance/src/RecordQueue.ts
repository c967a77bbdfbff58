/** First in, first out: records of a fixed number of doubles in one ring, which doubles when it is full. */
export class RecordQueue {
  length = 0
  private readonly fields: number
  private ring: Float64Array
  private head = 0

  constructor(fields: number) {
    this.fields = fields
    this.ring = new Float64Array(fields * 64)
  }

  /** Adds a record of zeros. Its fields are written by `set`. */
  push(): void {
    if (this.length * this.fields === this.ring.length) this.grow()
    this.length++
    for (let field = 0; field < this.fields; field++) this.set(field, 0)
  }

  /** Writes a field of the newest record. */
  set(field: number, value: number): void {
    this.ring[(this.head + (this.length - 1) * this.fields + field) % this.ring.length] = value
  }

  /** Reads a field of the oldest record. */
  first(field: number): number {
    return this.ring[this.head + field] ?? Number.NaN
  }

  /** Drops the oldest record. */
  shift(): void {
    this.head = (this.head + this.fields) % this.ring.length
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
