import fc from "fast-check"
import { build } from "hdr-histogram-js"
import { describe, expect, test } from "vitest"
import { Histogram } from "../src/index.ts"

const of = (values: ReadonlyArray<number>, digits = 2): Histogram => {
  const histogram = new Histogram(digits)
  for (const value of values) histogram.record(value)
  return histogram
}

describe("a histogram", () => {
  test("of small values is exact", () => {
    const histogram = of([5, 0, 5, 255, 7])
    expect([...histogram.buckets()]).toEqual([
      { from: 0, to: 0, weight: 1 },
      { from: 5, to: 5, weight: 2 },
      { from: 7, to: 7, weight: 1 },
      { from: 255, to: 255, weight: 1 },
    ])
    expect(histogram).toMatchObject({ weight: 5, min: 0, max: 255, mean: 54.4 })
    expect([0, 0.2, 0.21, 0.6, 0.61, 1].map((share) => histogram.quantile(share))).toEqual([0, 0, 5, 5, 7, 255])
    expect([0, 4, 5, 254, 255].map((value) => histogram.shareUpTo(value))).toEqual([0.2, 0.2, 0.6, 0.8, 1])
  })

  test("has buckets twice as wide for values twice as large", () => {
    // Two digits: 2^8 is the least power of two from 200 on. 256..511 in twos, 512..1023 in fours, 2^20.. in 2^13.
    const middle = (value: number) => [...of([0, value, 2 ** 40]).buckets()][1]
    expect(middle(256)).toMatchObject({ from: 256, to: 257 })
    expect(middle(511)).toMatchObject({ from: 510, to: 511 })
    expect(middle(513)).toMatchObject({ from: 512, to: 515 })
    expect(middle(2 ** 20 + 1)).toMatchObject({ from: 2 ** 20, to: 2 ** 20 + 2 ** 13 - 1 })
  })

  test("is never wider than its digits, up to 2^53", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.maxSafeInteger().map(Math.abs), (digits, value) => {
        const histogram = of([0, value, Number.MAX_SAFE_INTEGER], digits)
        const holding = [...histogram.buckets()].find(({ from, to }) => from <= value && value <= to)!
        expect(holding.to - holding.from).toBeLessThanOrEqual(value / 10 ** digits)
      }),
    )
  })

  test("counts time as well as samples", () => {
    const histogram = new Histogram()
    histogram.record(0, 900)
    histogram.record(100, 100)
    histogram.record(7, 0)
    expect(histogram).toMatchObject({ weight: 1000, mean: 10, min: 0, max: 100 })
    expect([0.9, 0.901].map((share) => histogram.quantile(share))).toEqual([0, 100])
  })

  test("has bounded memory: 6,016 buckets with two digits, room for twice as many at most", () => {
    const histogram = new Histogram()
    for (let bit = 0; bit < 53; bit++)
      for (let i = 0; i < 500; i++) histogram.record(Math.floor((2 ** bit * (500 + i)) / 500))
    histogram.record(Number.MAX_SAFE_INTEGER)
    expect(histogram.memoryBytes).toBeLessThanOrEqual(8 * 2 * 6016)
  })

  test("of nothing, and of what it does not take", () => {
    const empty = new Histogram()
    expect([empty.mean, empty.quantile(0.5), empty.shareUpTo(1), empty.max]).toEqual(Array(4).fill(Number.NaN))
    expect([...empty.buckets()]).toEqual([])
    for (const value of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => empty.record(value)).toThrow(RangeError)
    for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => empty.record(1, weight)).toThrow(RangeError)
    for (const digits of [0, 5, 1.5]) expect(() => new Histogram(digits)).toThrow(RangeError)
    expect(() => empty.quantile(2)).toThrow("share is 2")
  })

  test("agrees with HdrHistogram", () => {
    const values = fc.array(fc.tuple(fc.nat({ max: 2 ** 30 }), fc.integer({ min: 1, max: 9 })), {
      minLength: 1,
      maxLength: 60,
    })
    fc.assert(
      fc.property(values, fc.constantFrom(1, 2, 3), (pairs, digits) => {
        const other = build({
          bitBucketSize: 64,
          autoResize: true,
          numberOfSignificantValueDigits: digits as 1 | 2 | 3,
        })
        const own = new Histogram(digits)
        for (const [value, weight] of pairs) {
          own.record(value, weight)
          other.recordValueWithCount(value, weight)
        }
        expect(own.weight).toBe(other.totalCount)
        expect(own.max).toBe(Math.max(...pairs.map(([value]) => value)))
        for (let percent = 1; percent <= 100; percent++) {
          // HdrHistogram answers with the top of the bucket, be it above the largest value.
          const theirs = Math.min(own.max, other.getValueAtPercentile(percent))
          expect(own.quantile(percent / 100)).toBe(theirs)
        }
      }),
      { numRuns: 60 },
    )
  })
})
