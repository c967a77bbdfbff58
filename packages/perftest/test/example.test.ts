import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { expect, test } from "vitest"
import { line } from "../examples/latency.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

test("the example measures what the README says", async () => {
  const printed = await Effect.runPromise(line)
  expect(printed.split(/\s+/).slice(1, 6)).toEqual(["8", "100", "2.02", "2.02", "2.02"])
  expect(read("../README.md")).toContain(`${printed.replaceAll(/\s+/g, " ").trim()}\n`)
})

test("the README has the example", () => {
  expect(read("../README.md")).toContain(read("../examples/latency.ts"))
})
