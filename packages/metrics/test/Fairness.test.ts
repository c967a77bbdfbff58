import { NEVER } from "@rdmakit/units"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { convergenceTime, jainIndex } from "../src/index.ts"

describe("Jain's index", () => {
  test("by hand", () => {
    expect(jainIndex([5, 5, 5, 5])).toBe(1)
    expect(jainIndex([8, 0, 0, 0])).toBe(0.25)
    // (1 + 2 + 3)² / (3 · (1 + 4 + 9)) = 36/42.
    expect(jainIndex([1, 2, 3])).toBe(36 / 42)
    expect(jainIndex([0, 0])).toBe(1)
  })

  test("no shares, and what is no share, are refused", () => {
    expect(() => jainIndex([])).toThrow(new RangeError("there are no shares, expected at least one"))
    expect(() => jainIndex([-1, 2])).toThrow(new RangeError("share 0 is -1, expected at least 0"))
    expect(() => jainIndex([1, Number.NaN])).toThrow(new RangeError("share 1 is NaN, expected at least 0"))
  })

  test("k of n with the same share and the others with nothing: k/n", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 }), (some, none) => {
        const shares = Float64Array.from({ length: some + none }, (_, index) => (index < some ? 3 : 0))
        expect(jainIndex(shares)).toBeCloseTo(some / (some + none), 12)
      }),
    )
  })
})

describe("convergence", () => {
  const times = [10, 20, 30, 40, 50]

  test("from the first sample after which every flow stays near its share", () => {
    // The first flow is within 10 % of 50 from 20 on, the second leaves again at 30.
    const rates = [
      [80, 54, 52, 50, 50],
      [20, 46, 40, 46, 50],
    ]
    expect(convergenceTime(times, rates, [50, 50], { tolerance: 0.1 })).toBe(30)
    expect(convergenceTime(times, rates, [50, 50], { tolerance: 0.2 })).toBe(10)
    expect(convergenceTime(times, rates, [50, 50], { tolerance: 0.1, from: 25 })).toBe(15)
    expect(convergenceTime(times, rates, [50, 50], { tolerance: 0 })).toBe(40)
  })

  test("at the edge of the tolerance is within it", () => {
    expect(convergenceTime([0, 1], [[90, 110]], [100], { tolerance: 0.1 })).toBe(0)
  })

  test("each its own share; what is not under way does not matter", () => {
    const rates = [
      [30, 30, 30, 30, 30],
      [Number.NaN, Number.NaN, 90, 60, 60],
    ]
    expect(convergenceTime(times, rates, [30, 60], { tolerance: 0.05 })).toBe(30)
  })

  test("never", () => {
    expect(convergenceTime(times, [[1, 1, 1, 1, 9]], [1], { tolerance: 0.1 })).toBe(NEVER)
    expect(convergenceTime([], [[]], [1], { tolerance: 0.1 })).toBe(NEVER)
    expect(convergenceTime(times, [[1, 1, 1, 1, 1]], [1], { tolerance: 0.1, from: 60 })).toBe(NEVER)
  })

  test("what does not go together is refused", () => {
    expect(() => convergenceTime(times, [[1]], [1], { tolerance: 0.1 })).toThrow("flow 0 has 1 rates")
    expect(() => convergenceTime(times, [], [1], { tolerance: 0.1 })).toThrow("0 flows and 1 fair shares")
    expect(() => convergenceTime(times, [], [], { tolerance: -1 })).toThrow("tolerance is -1")
  })
})
