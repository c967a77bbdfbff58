import type { Addresses } from "./Addresses.ts"
import { Conversations } from "./flows/Conversations.ts"
import { Histogram } from "./Histogram.ts"
import type { Sighting } from "./Sighting.ts"

/** What is counted in each interval. */
export const rateFields = [
  "packets",
  "wireBytes",
  "payloadBytes",
  "ecnCapable",
  "marked",
  "cnps",
  "pauses",
  "repeated",
  "naks",
  "rnrNaks",
] as const
export type RateField = (typeof rateFields)[number]

/** One interval; its end is the start of the next. */
export type RateRow = { readonly startNs: number } & { readonly [F in RateField]: number }

export interface Talker {
  readonly source: string
  readonly destination: string
  readonly packets: number
  readonly wireBytes: number
}

export interface RatesResult {
  readonly intervalNs: number
  readonly rows: ReadonlyArray<RateRow>
  /** Pairs of hosts, those that send most first. */
  readonly talkers: ReadonlyArray<Talker>
  /** Octets on the wire in an interval that is not empty. */
  readonly busiest: { readonly p50: number; readonly p99: number; readonly max: number }
}

export interface RatesOptions {
  /** Nanoseconds; by default as short as the number of intervals allows, a power of two of microseconds. */
  readonly intervalNs?: number | undefined
  /** Intervals at most: when more would be needed they grow twice as long. 1,024 by default. */
  readonly intervalsMax?: number | undefined
}

const FIRST_NS = 1000
const INTERVALS = 1024
const TALKERS_MAX = 1 << 16
const FIELDS = rateFields.length

const empty = (): Record<RateField, number> =>
  Object.fromEntries(rateFields.map((field) => [field, 0])) as Record<RateField, number>

/** Counts what happens over time, in as many intervals as are wanted, however long the capture. */
export class Rates {
  readonly #conversations = new Conversations()
  readonly #most: number
  #intervalNs: number
  /** All fields of an interval together. */
  #cells: Float64Array
  #used = 0
  readonly #talkers = new Map<number, { packets: number; wireBytes: number }>()

  constructor({ intervalNs = FIRST_NS, intervalsMax = INTERVALS }: RatesOptions = {}) {
    this.#intervalNs = intervalNs
    this.#most = Math.max(2, intervalsMax)
    this.#cells = new Float64Array(FIELDS * Math.min(this.#most, INTERVALS))
  }

  /** Takes a packet; one without a time counts among the talkers alone. */
  sighting(sighting: Sighting): void {
    const { kind, timeNs, source, destination, wireBytes, trafficClass, syndrome } = sighting
    const outcome = kind === "roce" ? this.#conversations.take(sighting) : undefined
    this.#talk(source, destination, wireBytes)
    if (Number.isNaN(timeNs)) return
    const at = FIELDS * this.#place(timeNs)
    const cells = this.#cells
    cells[at]! += 1
    cells[at + 1]! += wireBytes
    if (kind === "pause") cells[at + 6]! += 1
    if (kind !== "roce") return
    if (outcome !== "copy") cells[at + 2]! += sighting.payloadBytes
    if (trafficClass > 0 && (trafficClass & 3) !== 0) cells[at + 3]! += 1
    if (trafficClass > 0 && (trafficClass & 3) === 3) cells[at + 4]! += 1
    if (sighting.operation?.kind === "notify") cells[at + 5]! += 1
    if (outcome === "repeat") cells[at + 7]! += 1
    cells[at + 7]! += this.#conversations.turned
    if (syndrome >> 5 === 3) cells[at + 8]! += 1
    if (syndrome >> 5 === 1) cells[at + 9]! += 1
  }

  #talk(source: number, destination: number, wireBytes: number): void {
    const key = source * 0x10_0000 + destination
    const talker = this.#talkers.get(key)
    if (talker !== undefined) {
      talker.packets++
      talker.wireBytes += wireBytes
    } else if (this.#talkers.size < TALKERS_MAX) this.#talkers.set(key, { packets: 1, wireBytes })
  }

  /** The interval of a time; what is before the first packet counts in the first. */
  #place(timeNs: number): number {
    let place = Math.max(0, Math.floor(timeNs / this.#intervalNs))
    while (place >= this.#most) {
      this.#halve()
      place = Math.floor(timeNs / this.#intervalNs)
    }
    if (FIELDS * (place + 1) > this.#cells.length) {
      const grown = new Float64Array(
        Math.min(FIELDS * this.#most, Math.max(2 * this.#cells.length, FIELDS * (place + 1))),
      )
      grown.set(this.#cells)
      this.#cells = grown
    }
    if (place >= this.#used) this.#used = place + 1
    return place
  }

  #halve(): void {
    const cells = this.#cells
    this.#intervalNs *= 2
    for (let to = 0; to < this.#used; to++) {
      for (let field = 0; field < FIELDS; field++) {
        const first = 2 * FIELDS * to + field
        cells[FIELDS * to + field] = (cells[first] ?? 0) + (cells[first + FIELDS] ?? 0)
      }
    }
    this.#used = Math.ceil(this.#used / 2)
    cells.fill(0, FIELDS * this.#used)
  }

  /** @param talkersMax how many pairs of hosts */
  result(addresses: Addresses, talkersMax = 10): RatesResult {
    const rows: Array<RateRow> = []
    const octets = new Histogram()
    for (let place = 0; place < this.#used; place++) {
      const row = { startNs: place * this.#intervalNs, ...empty() }
      for (const [index, field] of rateFields.entries()) row[field] = this.#cells[FIELDS * place + index]!
      if (row.packets > 0) octets.add(row.wireBytes)
      rows.push(row)
    }
    const talkers = [...this.#talkers]
      .sort(([, a], [, b]) => b.wireBytes - a.wireBytes)
      .slice(0, talkersMax)
      .map(([key, counts]) => ({
        source: addresses.text(Math.floor(key / 0x10_0000)),
        destination: addresses.text(key % 0x10_0000),
        ...counts,
      }))
    const busiest = { p50: octets.quantile(0.5), p99: octets.quantile(0.99), max: octets.count === 0 ? 0 : octets.max }
    return { intervalNs: this.#intervalNs, rows, talkers, busiest }
  }
}
