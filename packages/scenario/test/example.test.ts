import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { outcome } from "../examples/incast.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(outcome).toMatchObject({ controller: "hpcc/paper", flowsTotal: 9, flowsFinished: 9, unfinished: [] })
  expect(read("../README.md")).toContain(read("../examples/incast.ts"))
})
