import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { deliveredBytes, queueBytes, unpacedQueueBytes } from "../examples/manyFlows.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  // Three hundred packets of 1,000 bytes, less what is on the wire: 10 µs of 10 Gb/s.
  expect(unpacedQueueBytes).toBeGreaterThan(280_000)
  expect(queueBytes).toBeLessThan(210_000)
  // 5 ms of 10 Gb/s.
  expect(deliveredBytes / 6_250_000).toBeGreaterThan(0.99)
  expect(read("../README.md")).toContain(read("../examples/manyFlows.ts"))
})
