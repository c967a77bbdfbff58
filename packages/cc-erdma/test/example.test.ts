import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { queues, shares } from "../examples/incast.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  for (const share of shares) expect(share).toBeGreaterThan(0.99)
  expect(queues).toEqual([
    [97_000, 4_000],
    [103_000, 65_000],
  ])
  expect(read("../README.md")).toContain(read("../examples/incast.ts"))
})
