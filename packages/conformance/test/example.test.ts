import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

// The example itself runs through the suite in controllerSuite.test.ts.
it("the README shows the example as it is", () => {
  expect(read("../README.md")).toContain(read("../examples/aimd.ts"))
})

// This one through the suite in flowSuite.test.ts.
it("and the transport", () => {
  expect(read("../README.md")).toContain(read("../examples/stopAndWait.ts"))
})
