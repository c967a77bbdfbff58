import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { queueBytes, shares } from "../examples/fixedPoint.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  // 90 µs of 10 Gb/s.
  expect((queueBytes ?? 0) / 112_500).toBeCloseTo(1, 1)
  expect((shares[0] ?? 0) / (shares[1] ?? 0)).toBeCloseTo(1, 1)
  expect(read("../README.md")).toContain(read("../examples/fixedPoint.ts"))
})
