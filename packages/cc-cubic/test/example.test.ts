import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { dropped, shares } from "../examples/slowStart.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  const [plain, careful] = dropped as [number, number]
  expect(careful).toBeGreaterThan(0)
  expect(plain / careful).toBeGreaterThan(4)
  for (const share of shares) expect(share).toBeGreaterThan(0.98)
  expect(read("../README.md")).toContain(read("../examples/slowStart.ts"))
})
