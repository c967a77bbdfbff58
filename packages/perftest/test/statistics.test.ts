import { MICROSECOND, NANOSECOND, SECOND } from "@rdmakit/units"
import { describe, expect, test } from "vitest"
import { bandwidthLine, bandwidthResult, latencyLine, latencyResult, receivedResult, sumOf } from "../src/index.ts"

/** Times of posts whose distances are these. */
const posts = (distances: ReadonlyArray<number>) => {
  const times = [0]
  for (const each of distances) times.push(times.at(-1)! + each)
  return times
}

describe("latency", () => {
  const us = (numbers: ReadonlyArray<number>) => posts(numbers.map((number) => number * MICROSECOND))

  test("the two longest are left out, the maximum is the shorter of them, the typical one is the median", () => {
    const result = latencyResult(8, us([3, 1, 100, 2, 4, 50, 6]), false)
    expect(result).toEqual({
      ...{ bytes: 8, iterations: 8, minUs: 1, maxUs: 50, typicalUs: 3 },
      ...{ averageUs: 16 / 5, deviationUs: Math.sqrt(14.8 / 5), percentile99Us: 50, percentile999Us: 50 },
    })
  })

  test("an even number of them has its median in the middle of two", () => {
    expect(latencyResult(8, us([1, 2, 4, 5, 9, 9]), false).typicalUs).toBe(3)
  })

  test("SEND and WRITE tell half of there and back", () => {
    const whole = latencyResult(2, us([2, 4, 6, 8, 10, 12]), false)
    const half = latencyResult(2, us([2, 4, 6, 8, 10, 12]), true)
    expect(half.typicalUs).toBe(whole.typicalUs / 2)
    expect(half.maxUs).toBe(whole.maxUs / 2)
    expect(half.deviationUs).toBeCloseTo(whole.deviationUs / 2, 12)
  })

  test("percentiles of a thousand", () => {
    const result = latencyResult(2, us(Array.from({ length: 1002 }, (_, index) => index + 1)), false)
    // 1,000 count: the 99 % one is at index 990, that of 99.9 % at 999.
    expect([result.percentile99Us, result.percentile999Us, result.maxUs]).toEqual([991, 1000, 1001])
  })
})

describe("bandwidth", () => {
  test("MB are of 2^20, the average is from the first post to the last completion", () => {
    const postedPs = [0, 1, 2, 3].map((index) => index * MICROSECOND)
    const completedPs = postedPs.map((time) => time + 7 * MICROSECOND)
    const result = bandwidthResult({ bytes: 2 ** 20, postedPs, completedPs, moderation: 1 })
    expect(result.average).toBeCloseTo(4 / 10e-6, 6)
    expect(result.messageRate).toBeCloseTo(0.4, 12)
    // The best stretch is that of all four.
    expect(result.peak).toBeCloseTo(4 / 10e-6, 6)
    expect([result.bytes, result.iterations]).toEqual([2 ** 20, 4])
  })

  test("the peak is any stretch from a post to a completion", () => {
    const postedPs = [0, 10, 11, 12].map((time) => time * MICROSECOND)
    const completedPs = [8, 12, 13, 14].map((time) => time * MICROSECOND)
    const { peak } = bandwidthResult({ bytes: 2 ** 20, postedPs, completedPs, moderation: 1 })
    expect(peak).toBeCloseTo(3 / 4e-6, 6)
  })

  test("with moderation a stretch ends where a completion came, the last one with fewer", () => {
    const postedPs = [0, 0, 0, 0, 0].map((time) => time * MICROSECOND)
    const completedPs = [4, 4, 6, 6, 20].map((time) => time * MICROSECOND)
    const { peak } = bandwidthResult({ bytes: 2 ** 20, postedPs, completedPs, moderation: 2 })
    expect(peak).toBeCloseTo(4 / 6e-6, 6)
  })

  test("the receiver of SENDs has no peak", () => {
    const result = receivedResult(2 ** 20, 10, SECOND, 2 * SECOND)
    expect(result).toEqual({ bytes: 2 ** 20, iterations: 10, peak: 0, average: 10, messageRate: 10 / 1e6 })
  })

  test("above 20,000 there is no peak", () => {
    const postedPs = Array.from({ length: 20_001 }, (_, index) => index * NANOSECOND)
    const completedPs = postedPs.map((time) => time + NANOSECOND)
    expect(bandwidthResult({ bytes: 8, postedPs, completedPs, moderation: 1 }).peak).toBe(0)
  })

  test("both directions are added, their iterations are not", () => {
    const one = receivedResult(100, 10, 0, SECOND)
    const both = sumOf(one, one)
    expect([both.iterations, both.messageRate]).toEqual([10, 2 * one.messageRate])
  })
})

describe("lines are those of perftest 6.06, octet for octet", () => {
  test("bandwidth", () => {
    const line = bandwidthLine({ bytes: 4096, iterations: 100, peak: 40.08, average: 13.23, messageRate: 0.003387 })
    expect(line).toBe(" 4096       100              40.08              13.23  \t\t   0.003387")
    const wide = { bytes: 1024, iterations: 20, peak: 0, average: 4739.63, messageRate: 4.853384 }
    expect(bandwidthLine(wide)).toBe(" 1024       20               0.00               4739.63\t\t   4.853384")
  })

  test("latency", () => {
    const line = latencyLine({
      ...{ bytes: 2, iterations: 50, minUs: 26.54, maxUs: 362.52, typicalUs: 26.88, averageUs: 31.04 },
      ...{ deviationUs: 14.99, percentile99Us: 362.52, percentile999Us: 362.52 },
    })
    expect(line).toBe(
      " 2       50          26.54          362.52       26.88    \t       31.04       \t14.99  \t\t362.52  \t\t362.52 ",
    )
  })
})
