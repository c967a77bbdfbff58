import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { turns } from "../examples/turns.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(turns).toEqual([0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2])
  expect(read("../README.md")).toContain(read("../examples/turns.ts"))
  // The other one runs through the suite in conformance.test.ts.
  expect(read("../README.md")).toContain(read("../examples/firstCome.ts"))
})
