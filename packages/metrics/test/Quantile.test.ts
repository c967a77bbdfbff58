import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { quantile, statsOf } from "../src/index.ts"

describe("the definitions of a quantile", () => {
  const ten = Float64Array.from({ length: 10 }, (_, index) => index + 1)

  // Index ⌊10p⌋: 0, 5, 9 (of 9.5), 10 and so the last.
  test("floor-index", () => {
    expect([0, 0.5, 0.95, 1].map((p) => quantile(ten, p))).toEqual([1, 6, 10, 10])
  })

  // Rank ⌈10p⌉: 0 and so the first, 5, 10, 10.
  test("nearest-rank", () => {
    expect([0, 0.5, 0.95, 1].map((p) => quantile(ten, p, "nearest-rank"))).toEqual([1, 5, 10, 10])
  })

  // Place 9p: 0, 4.5, 8.55, 9, of values that are their index plus one.
  test("interpolated", () => {
    const [least, median, p95, most] = [0, 0.5, 0.95, 1].map((p) => quantile(ten, p, "interpolated"))
    expect([least, median, most]).toEqual([1, 5.5, 10])
    expect(p95).toBeCloseTo(9.55, 12)
  })

  test("a rank that is whole but for rounding is whole", () => {
    const hundred = Float64Array.from({ length: 100 }, (_, index) => index + 1)
    expect(100 * 0.07).toBeGreaterThan(7)
    expect(quantile(hundred, 0.07, "nearest-rank")).toBe(7)
    expect(quantile(hundred, 0.99, "nearest-rank")).toBe(99)
  })

  test("a rank that is not whole is rounded up, of a million values too", () => {
    const many = Float64Array.from({ length: 1_001_999 }, (_, index) => index + 1)
    // 1,001,999 · 0.999 = 1,000,997.001.
    expect(quantile(many, 0.999, "nearest-rank")).toBe(1_000_998)
  })

  test("of none, of one, of infinities", () => {
    for (const definition of ["floor-index", "nearest-rank", "interpolated"] as const) {
      expect(quantile([], 0.5, definition)).toBe(Number.NaN)
      expect([0, 0.5, 1].map((p) => quantile([7], p, definition))).toEqual([7, 7, 7])
      const endless = [1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      expect(quantile(endless, 1, definition)).toBe(Number.POSITIVE_INFINITY)
    }
    expect(() => quantile([1], 1.5)).toThrow("share is 1.5, expected 0 to 1")
    expect(() => quantile([1], Number.NaN)).toThrow(RangeError)
  })

  test("nearest-rank is the least value that a share of p does not exceed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 100 }),
        (values, percent) => {
          const sorted = Float64Array.from(values).sort()
          const found = quantile(sorted, percent / 100, "nearest-rank")
          const upTo = (limit: number): number => sorted.filter((value) => value <= limit).length
          expect(upTo(found) * 100).toBeGreaterThanOrEqual(percent * sorted.length)
          expect(upTo(found - 1) * 100).toBeLessThan(percent * sorted.length)
        },
      ),
    )
  })
})

describe("stats", () => {
  test("in any order", () => {
    // Sorted 1 1 2 4: indices ⌊4·0.5⌋ = 2, ⌊4·0.95⌋ = 3, ⌊4·0.99⌋ = 3; mean 8/4.
    const expected = { count: 4, mean: 2, p50: 2, p95: 4, p99: 4 }
    expect(statsOf([4, 1, 2, 1])).toEqual(expected)
    expect(statsOf([1, 1, 2, 4])).toEqual(expected)
    expect(statsOf([4, 1, 2, 1], "nearest-rank")).toEqual({ ...expected, p50: 1 })
    expect(statsOf([])).toEqual({ count: 0, mean: Number.NaN, p50: Number.NaN, p95: Number.NaN, p99: Number.NaN })
  })
})
