import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { firstQueueBytes, lastQueueBytes, utilisation } from "../examples/incast.ts"
import { withDigests, withRecords } from "../examples/pint.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  // Sixteen windows of 100,000 bytes, less what left meanwhile.
  expect(firstQueueBytes).toBeGreaterThan(1_400_000)
  expect(lastQueueBytes).toBeLessThan(20_000)
  expect(utilisation).toBeCloseTo(0.95, 1)
  expect(read("../README.md")).toContain(read("../examples/incast.ts"))
})

it("and so does the one with PINT", () => {
  for (const queueBytes of [withRecords, withDigests]) expect(queueBytes).toBeLessThan(10_000)
  expect(read("../README.md")).toContain(read("../examples/pint.ts"))
})
