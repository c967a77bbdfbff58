import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { row, tally } from "../examples/one-claim.ts"

test("the example measures what the README says", () => {
  expect(row).toEqual({
    system: "HPCC",
    published: 860e3,
    measured: 872e3,
    verdict: "within",
    reason: undefined,
  })
  expect(tally).toMatchObject({ claims: 1, numbers: 1, within: 1 })
})

test("the README shows the example", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  expect(readme).toContain(readFileSync(new URL("../examples/one-claim.ts", import.meta.url), "utf8").trim())
})
