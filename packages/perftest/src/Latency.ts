import { MICROSECOND, type Time } from "@rdmakit/units"

/** What a latency test found, as perftest counts it (print_report_lat). */
export interface LatencyResult {
  readonly bytes: number
  readonly iterations: number
  /** Microseconds each. */
  readonly minUs: number
  readonly maxUs: number
  /** The median. */
  readonly typicalUs: number
  readonly averageUs: number
  readonly deviationUs: number
  readonly percentile99Us: number
  readonly percentile999Us: number
}

/** The longest that are left out of everything (LAT_MEASURE_TAIL). */
const TAIL = 2
/** The fewest iterations that leave something to count (MIN_ITER). */
export const ITERATIONS_LEAST = 5

/**
 * Latencies from the times at which requests were posted, one after the other was answered: an iteration is the time from
 * one to the next. Of n requests there are n − 1; the two longest are left out, and `maxUs` is the shorter of them, as
 * perftest has it. Its deviation cuts each difference to whole microseconds, this one does not.
 *
 * @param postedPs ascending, at least 5
 * @param halved the time is there and back, and half of it is told: SEND and WRITE, not READ and atomics
 */
export const latencyResult = (bytes: number, postedPs: ReadonlyArray<Time>, halved: boolean): LatencyResult => {
  const perMicrosecond = MICROSECOND * (halved ? 2 : 1)
  const times = postedPs.slice(1).map((posted, index) => (posted - postedPs[index]!) / perMicrosecond)
  times.sort((a, b) => a - b)
  const count = times.length - TAIL
  let sum = 0
  for (let index = 0; index < count; index++) sum += times[index]!
  const average = sum / count
  let squares = 0
  for (let index = 0; index < count; index++) squares += (times[index]! - average) ** 2
  return {
    bytes,
    iterations: postedPs.length,
    minUs: times[0]!,
    maxUs: times[count]!,
    typicalUs: median(times, count),
    averageUs: average,
    deviationUs: Math.sqrt(squares / count),
    percentile99Us: times[Math.ceil(count * 0.99)]!,
    percentile999Us: times[Math.ceil(count * 0.999)]!,
  }
}

/** Of the first `count`. */
const median = (sorted: ReadonlyArray<number>, count: number): number => {
  const middle = Math.floor(count / 2)
  return count % 2 === 1 ? sorted[middle]! : (sorted[middle]! + sorted[middle - 1]!) / 2
}
