/** Buckets in each doubling: a quantile is right within 3 %. */
const PER_OCTAVE = 32

/** How often values occurred, in buckets that grow with the value: any number of values in little memory. */
export class Histogram {
  /** By bucket, once there are two of them: messages of a queue pair are often all alike. */
  #counts: Map<number, number> | undefined
  #bucket = 0
  count = 0
  min = Number.POSITIVE_INFINITY
  max = Number.NEGATIVE_INFINITY

  /** Adds a value of 0 or more. */
  add(value: number): void {
    const bucket = value < 1 ? 0 : 1 + bucketOf(value)
    if (this.count === 0) this.#bucket = bucket
    else if (this.#counts === undefined && bucket !== this.#bucket) this.#counts = new Map([[this.#bucket, this.count]])
    this.#counts?.set(bucket, (this.#counts.get(bucket) ?? 0) + 1)
    this.count++
    if (value < this.min) this.min = value
    if (value > this.max) this.max = value
  }

  /** The value below which a share of them lies; NaN without values. */
  quantile(share: number): number {
    if (this.count === 0) return Number.NaN
    const counts = this.#counts ?? new Map([[this.#bucket, this.count]])
    let left = Math.max(1, Math.ceil(share * this.count))
    for (const bucket of [...counts.keys()].sort((a, b) => a - b)) {
      left -= counts.get(bucket)!
      if (left <= 0) return Math.min(this.max, Math.max(this.min, bucket === 0 ? 0 : middleOf(bucket - 1)))
    }
    return this.max
  }
}

const bucketOf = (value: number): number => {
  let octave = 0
  let scale = value
  for (; scale >= 2 ** 16; octave += 16) scale /= 2 ** 16
  for (; scale >= 2; octave++) scale /= 2
  return octave * PER_OCTAVE + Math.floor((scale - 1) * PER_OCTAVE)
}

/** The middle of a bucket. */
const middleOf = (bucket: number): number =>
  2 ** Math.floor(bucket / PER_OCTAVE) * (1 + ((bucket % PER_OCTAVE) + 0.5) / PER_OCTAVE)
