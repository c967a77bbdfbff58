import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { goodput } from "../examples/oneInTen.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(goodput.toFixed(2)).toBe("0.88")
  expect(read("../README.md")).toContain(read("../examples/oneInTen.ts"))
})
