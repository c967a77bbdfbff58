import { describe, expect, it } from "vitest"
import { meanInterval, studentT975 } from "../src/index.ts"

describe("the upper 2.5 % point of Student's t", () => {
  // NIST/SEMATECH e-Handbook, §1.3.6.7.2; the last is that of the normal distribution.
  it.each([
    [1, 12.706],
    [4, 2.776],
    [9, 2.262],
    [30, 2.042],
    [31, 2.04],
    [40, 2.021],
    [60, 2.0],
    [100, 1.984],
    [1e9, 1.96],
  ])("with %d degrees of freedom is %d", (freedom, point) => {
    expect(Math.abs(studentT975(freedom) - point)).toBeLessThan(0.0006)
  })
})

describe("a mean and its interval", () => {
  it("of five values, by hand", () => {
    // Mean 3, sum of squares 10, s² = 10/4, half width 2.776 · √(2.5/5).
    const { count, mean, halfWidth } = meanInterval([1, 2, 3, 4, 5])
    expect([count, mean]).toEqual([5, 3])
    expect(halfWidth).toBeCloseTo(2.776 * Math.sqrt(0.5), 12)
  })

  it("of two values: half their distance times 12.706", () => {
    expect(meanInterval([10, 14])).toEqual({ count: 2, mean: 12, halfWidth: 12.706 * 2 })
  })

  it("of equal values has no width, of one has none", () => {
    expect(meanInterval([7, 7, 7])).toEqual({ count: 3, mean: 7, halfWidth: 0 })
    // Three times this, rounded, divided by three is another double.
    const odd = 15.259774665929138
    expect(meanInterval([odd, odd, odd])).toEqual({ count: 3, mean: odd, halfWidth: 0 })
    expect(meanInterval([7])).toEqual({ count: 1, mean: 7, halfWidth: Number.NaN })
    expect(meanInterval([])).toEqual({ count: 0, mean: Number.NaN, halfWidth: Number.NaN })
  })
})
