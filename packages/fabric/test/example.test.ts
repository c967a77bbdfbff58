import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { outcome } from "../examples/own-controller.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(outcome).toMatchObject({ controller: "aimd", flowsFinished: 16, dropsByReason: {} })
  expect(outcome.controllerActions).toBeGreaterThan(100)
  const last = Math.max(...outcome.flows.finished)
  // Sixteen megabytes and their headers take 1.34 ms over the receiver's link; halving leaves it idle a little.
  expect(last).toBeGreaterThan(1.34e9)
  expect(last).toBeLessThan(1.5e9)
  expect(read("../README.md")).toContain(read("../examples/own-controller.ts"))
})
