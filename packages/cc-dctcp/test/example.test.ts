import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { alphas, queueBytes, shares } from "../examples/fewMarks.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  // A millisecond of 10 Gb/s is 1,250,000 bytes.
  const [first = 0, second = 0] = shares as [number, number]
  expect(first + second).toBeGreaterThan(0.98 * 1_250_000)
  expect(Math.min(first, second) / Math.max(first, second)).toBeGreaterThan(0.8)
  expect(queueBytes).toBeGreaterThan(12_500)
  expect(queueBytes).toBeLessThan(50_000)
  for (const alpha of alphas) expect(alpha).toBeLessThan(0.2)
  expect(read("../README.md")).toContain(read("../examples/fewMarks.ts"))
})
