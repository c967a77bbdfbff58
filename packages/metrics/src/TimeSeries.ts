import type { Time } from "@rdmakit/units"

export interface TimeSeriesOptions {
  /** Numbers in a row, besides its key: 1 or 2. */
  readonly columns: number
  /** Samples that are kept, at least 2. */
  readonly samplesMax: number
  /** Rows that are kept, of all samples together, at least 1; a single sample may have more. */
  readonly rowsMax: number
}

/**
 * Samples of many things over time, in bounded memory: each sample has a row for each thing that was there, with its
 * key and some numbers. When it is `full` its owner takes every second moment of a regular grid away (`thin`), and
 * samples half as often from then on.
 */
export class TimeSeries {
  readonly columns: number
  samples = 0
  rows = 0
  private readonly samplesMax: number
  private readonly rowsMax: number
  private times = new Float64Array(64)
  /** First row of each sample. */
  private first = new Float64Array(64)
  private keys = new Int32Array(64)
  private readonly values: Array<Float64Array<ArrayBuffer>>

  /** @throws RangeError for an option out of its range */
  constructor({ columns, samplesMax, rowsMax }: TimeSeriesOptions) {
    if (columns !== 1 && columns !== 2) throw new RangeError(`columns is ${columns}, expected 1 or 2`)
    if (!(samplesMax >= 2)) throw new RangeError(`samplesMax is ${samplesMax}, expected at least 2`)
    if (!(rowsMax >= 1)) throw new RangeError(`rowsMax is ${rowsMax}, expected at least 1`)
    this.columns = columns
    this.samplesMax = samplesMax
    this.rowsMax = rowsMax
    this.values = Array.from({ length: columns }, () => new Float64Array(64))
  }

  /** Begins a sample: rows belong to it from now on. @param time ps, after the last sample's */
  begin(time: Time): void {
    if (this.samples === this.times.length) {
      this.times = grown(this.times)
      this.first = grown(this.first)
    }
    this.times[this.samples] = time
    this.first[this.samples] = this.rows
    this.samples++
  }

  /** Adds a row to the sample that was begun last. @param second of the numbers, where there are two columns */
  add(key: number, first: number, second = Number.NaN): void {
    if (this.rows === this.keys.length) this.enlarge()
    this.keys[this.rows] = key
    const { values } = this
    values[0]![this.rows] = first
    if (values.length > 1) values[1]![this.rows] = second
    this.rows++
  }

  /** Whether there is more than was asked for. */
  get full(): boolean {
    return this.samples > this.samplesMax || (this.rows > this.rowsMax && this.samples > 1)
  }

  /** Keeps the samples whose time is a whole number of periods after the start, with their rows. */
  thin(start: Time, period: Time): void {
    let samples = 0
    let rows = 0
    for (let sample = 0; sample < this.samples; sample++) {
      if ((this.times[sample]! - start) % period !== 0) continue
      const from = this.first[sample]!
      const to = this.endOf(sample)
      this.times[samples] = this.times[sample]!
      this.first[samples] = rows
      this.keys.copyWithin(rows, from, to)
      for (const column of this.values) column.copyWithin(rows, from, to)
      rows += to - from
      samples++
    }
    this.samples = samples
    this.rows = rows
  }

  /** Time of a sample, ps. */
  timeOf(sample: number): Time {
    return this.times[sample]!
  }
  /** The rows of a sample: from this one… */
  firstOf(sample: number): number {
    return this.first[sample]!
  }
  /** … up to, and without, this one. */
  endOf(sample: number): number {
    return sample + 1 < this.samples ? this.first[sample + 1]! : this.rows
  }
  keyOf(row: number): number {
    return this.keys[row]!
  }
  valueOf(row: number, column = 0): number {
    return this.values[column]![row]!
  }

  /** A column of one key at every sample; `missing` where the key has no row. */
  seriesOf(key: number, column = 0, missing = Number.NaN): Float64Array {
    const series = new Float64Array(this.samples).fill(missing)
    for (let sample = 0; sample < this.samples; sample++) {
      const end = this.endOf(sample)
      for (let row = this.firstOf(sample); row < end; row++) {
        if (this.keys[row] === key) series[sample] = this.values[column]![row]!
      }
    }
    return series
  }

  private enlarge(): void {
    const keys = new Int32Array(this.keys.length * 2)
    keys.set(this.keys)
    this.keys = keys
    this.values.forEach((column, index) => {
      this.values[index] = grown(column)
    })
  }
}

const grown = (values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
  const larger = new Float64Array(values.length * 2)
  larger.set(values)
  return larger
}
