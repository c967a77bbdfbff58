import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { carried, read } from "../examples/overStream.ts"

const text = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  // FPDUs are padded to four octets, with two in front and four behind: 20 and 52; three of 1,020.
  expect(carried).toEqual([72, 3060])
  expect(new Set(read)).toEqual(new Set([7]))
  expect(text("../README.md")).toContain(text("../examples/overStream.ts"))
})
