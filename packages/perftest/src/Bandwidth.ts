import { MICROSECOND, SECOND, type Time } from "@rdmakit/units"
import type { PerftestResults } from "./outofband/PerftestMessages.ts"

/** MB/s of perftest is 2^20 octets a second. */
const MEGABYTE = 2 ** 20
/** Above so many iterations perftest does not look for a peak. */
const PEAK_ITERATIONS_MAX = 20_000

/** What a bandwidth test noted down. */
export interface BandwidthTimes {
  /** Of a message. */
  readonly bytes: number
  /** When each work request was posted, in that order. */
  readonly postedPs: ReadonlyArray<Time>
  /** When each was known to be complete, in the order of completion: those of one signalled request have the same time. */
  readonly completedPs: ReadonlyArray<Time>
  /** Requests that one completion stands for. */
  readonly moderation: number
}

/**
 * Bandwidth as perftest counts it (print_report_bw): the average over the time from the first post to the last completion;
 * the peak over any stretch from a post to a completion, however short. Above 20,000 requests there is no peak: 0.
 *
 * `iterations` are those of all queue pairs, as perftest prints and tells them.
 */
export const bandwidthResult = (times: BandwidthTimes): PerftestResults => {
  const { bytes, postedPs, completedPs } = times
  const iterations = postedPs.length
  const spanPs = completedPs[iterations - 1]! - postedPs[0]!
  return {
    bytes,
    iterations,
    peak: iterations > PEAK_ITERATIONS_MAX ? 0 : rateOf(bytes, shortestPs(times)),
    average: rateOf(bytes * iterations, spanPs),
    messageRate: iterations / (spanPs / MICROSECOND),
  }
}

/**
 * What the receiver of SENDs knows: from its first completion to its last. There is no peak: perftest prints 0.
 * @param firstPs when the first of `iterations` was received
 */
export const receivedResult = (bytes: number, iterations: number, firstPs: Time, lastPs: Time): PerftestResults => ({
  bytes,
  iterations,
  peak: 0,
  average: rateOf(bytes * iterations, lastPs - firstPs),
  messageRate: iterations / ((lastPs - firstPs) / MICROSECOND),
})

/** Both directions of a bidirectional test. */
export const sumOf = (one: PerftestResults, other: PerftestResults): PerftestResults => ({
  bytes: one.bytes,
  iterations: one.iterations,
  peak: one.peak + other.peak,
  average: one.average + other.average,
  messageRate: one.messageRate + other.messageRate,
})

const rateOf = (bytes: number, ps: Time): number => (bytes / ps) * (SECOND / MEGABYTE)

/** The least time of a request over all stretches from a post to a moderated completion. */
const shortestPs = ({ postedPs, completedPs, moderation }: BandwidthTimes): Time => {
  const count = postedPs.length
  let least = Number.POSITIVE_INFINITY
  for (let first = 0; first < count; first++) {
    const posted = postedPs[first]!
    for (let last = first + moderation - 1 - (first % moderation); last < count; last += moderation) {
      const each = (completedPs[last]! - posted) / (last - first + 1)
      if (each < least) least = each
    }
    // The last completion may stand for fewer.
    least = Math.min(least, (completedPs[count - 1]! - posted) / (count - first))
  }
  return least
}
