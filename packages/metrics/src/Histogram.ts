/** 2^53: whole numbers are exact up to here. */
const VALUE_MAX = Number.MAX_SAFE_INTEGER
const DIGITS_MAX = 4
/** A share of the weight is reached when it is as near as rounding leaves it. */
const ROUNDING = 1e-12

/** What one bucket of a histogram holds: values `from` to `to`, both included. */
export interface HistogramBucket {
  readonly from: number
  readonly to: number
  readonly weight: number
}

/**
 * How often whole numbers of any size came, in bounded memory: they are kept to so many significant digits, as in
 * HdrHistogram, whose layout this is (Gil Tene): small values each in a bucket of its own, above them buckets that get
 * twice as wide when values get twice as large. With two digits all values up to 2^53 have 6,016 buckets, and queues of
 * up to 32 MiB have 2,433.
 *
 * Each value may have a weight, so that a histogram of queue lengths counts time and not samples.
 */
export class Histogram {
  /** Sum of all weights. */
  weight = 0
  /** NaN of nothing. */
  min = Number.NaN
  max = Number.NaN
  private sum = 0
  private counts = new Float64Array(64)
  /** Values below this have a bucket each; 2^bits. */
  private readonly exact: number
  private readonly bits: number

  /**
   * @param digits significant decimal digits, 1 to 4: a bucket is never wider than 10^−digits of its values
   * @throws RangeError
   */
  constructor(digits = 2) {
    if (!(Number.isInteger(digits) && digits >= 1 && digits <= DIGITS_MAX)) {
      throw new RangeError(`digits is ${digits}, expected 1 to ${DIGITS_MAX}`)
    }
    let bits = 1
    while (2 ** bits < 2 * 10 ** digits) bits++
    this.bits = bits
    this.exact = 2 ** bits
  }

  /**
   * @param value a whole number, 0 to 2^53 − 1
   * @param weight above 0; a weight of 0 changes nothing
   * @throws RangeError
   */
  record(value: number, weight = 1): void {
    if (!(Number.isInteger(value) && value >= 0 && value <= VALUE_MAX)) {
      throw new RangeError(`value is ${value}, expected a whole number 0 to 2^53 − 1`)
    }
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) throw new RangeError(`weight is ${weight}, expected ≥ 0`)
    if (weight === 0) return
    const index = this.indexOf(value)
    if (index >= this.counts.length) this.grow(index + 1)
    this.counts[index]! += weight
    this.weight += weight
    this.sum += value * weight
    if (!(value >= this.min)) this.min = value
    if (!(value <= this.max)) this.max = value
  }

  /** Weighted mean of the values themselves, not of their buckets; NaN of nothing. */
  get mean(): number {
    return this.sum / this.weight
  }

  /**
   * The least value that a share of the weight does not exceed, to the digits kept: the top of its bucket, the largest
   * value at most ("nearest-rank"). NaN of nothing.
   *
   * @param share 0 to 1
   * @throws RangeError for another
   */
  quantile(share: number): number {
    if (!(share >= 0 && share <= 1)) throw new RangeError(`share is ${share}, expected 0 to 1`)
    const wanted = share * this.weight * (1 - ROUNDING)
    let below = 0
    let last = Number.NaN
    for (const { to, weight } of this.buckets()) {
      below += weight
      last = to
      if (below >= wanted) break
    }
    return last
  }

  /** The share of the weight at values up to `value`, to the digits kept: the bucket of `value` counts; NaN of nothing. */
  shareUpTo(value: number): number {
    let below = 0
    for (const { from, weight } of this.buckets()) {
      if (from > value) break
      below += weight
    }
    return below / this.weight
  }

  /** The buckets that hold something, by value; the first and the last as narrow as the values in them allow. */
  *buckets(): IterableIterator<HistogramBucket> {
    const { counts } = this
    for (let index = 0; index < counts.length; index++) {
      const weight = counts[index]!
      if (weight === 0) continue
      const { from, to } = this.boundsOf(index)
      yield { from: Math.max(from, this.min), to: Math.min(to, this.max), weight }
    }
  }

  /** Bytes that the counts take. */
  get memoryBytes(): number {
    return this.counts.byteLength
  }

  /** Above the exact values: so many bits down that `bits` are left, of which the highest is always set. */
  private indexOf(value: number): number {
    if (value < this.exact) return value
    const shift = bitsOf(value) - this.bits
    const half = this.exact / 2
    return this.exact + (shift - 1) * half + Math.floor(value / 2 ** shift) - half
  }

  private boundsOf(index: number): { readonly from: number; readonly to: number } {
    if (index < this.exact) return { from: index, to: index }
    const half = this.exact / 2
    const shift = Math.floor((index - this.exact) / half) + 1
    const from = (half + ((index - this.exact) % half)) * 2 ** shift
    return { from, to: from + 2 ** shift - 1 }
  }

  private grow(length: number): void {
    const counts = new Float64Array(Math.max(length, this.counts.length * 2))
    counts.set(this.counts)
    this.counts = counts
  }
}

/** Bits of a whole number: 1 of 1, 53 of 2^53 − 1. */
const bitsOf = (value: number): number => {
  const high = Math.floor(value / 2 ** 32)
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(value)
}
