import { expect, test } from "vitest"
import { sizeEnds, slowdown, slowdownBySize } from "../src/index.ts"

test("slowdown is at least 1, also against an ideal that was reckoned too long", () => {
  expect([slowdown(9158, 4579), slowdown(4579, 4579), slowdown(0, 0)]).toEqual([2, 1, 1])
  // A published line of ConWeave's simulator: 4,466 ns against an ideal of 4,538, 0.984 when taken as it is.
  expect(slowdown(4466, 4538)).toBe(1)
  expect(slowdown(1, Number.NaN)).toBe(Number.NaN)
})

test("a size that ends a range belongs to it; what did not finish does not count", () => {
  const sizes = [300, 301, 1000, 1001, 6e6, 5]
  const slowdowns = [2, 3, 5, 7, 11, Number.NaN]
  const buckets = slowdownBySize(sizes, slowdowns)
  expect(buckets.map(({ endBytes }) => endBytes)).toEqual(sizeEnds)
  expect(buckets.map(({ count }) => count)).toEqual([1, 2, 1, 0, 0, 0, 0, 0, 0, 1])
  // Of 3 and 5: mean 4, index ⌊2 · 0.5⌋ = 1.
  expect(buckets[1]).toEqual({ endBytes: 1000, count: 2, mean: 4, p50: 5, p95: 5, p99: 5 })
  expect(buckets[3]!.mean).toBe(Number.NaN)
})

test("ends and definition of one's own; what lies above the last end is in no bucket", () => {
  const options = { ends: [100, 200], definition: "nearest-rank" } as const
  expect(slowdownBySize([100, 50, 200, 201], [4, 2, 3, 9], options)).toEqual([
    { endBytes: 100, count: 2, mean: 3, p50: 2, p95: 4, p99: 4 },
    { endBytes: 200, count: 1, mean: 3, p50: 3, p95: 3, p99: 3 },
  ])
})
