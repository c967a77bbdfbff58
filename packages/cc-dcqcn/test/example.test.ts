import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { alpha, firstQueueBytes, lastQueueBytes, shares } from "../examples/incast.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(firstQueueBytes).toBeGreaterThan(500_000)
  expect(lastQueueBytes).toBeLessThan(100_000)
  // 40 Gb/s are 5 MB a millisecond.
  const total = shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)
  expect(total / 5e6).toBeCloseTo(1, 1)
  for (const share of shares) expect((share ?? 0) / total).toBeGreaterThan(0.2)
  expect(alpha).toBeGreaterThan(0.2)
  expect(alpha).toBeLessThan(0.4)
  expect(read("../README.md")).toContain(read("../examples/incast.ts"))
})
