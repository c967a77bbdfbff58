import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { alive, report } from "../examples/echo.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(JSON.stringify(report).replaceAll(",", ", ")).toBe(
    "[[6087000, 10752, 0, 100000000000], [7109000, 2179584, 54400, 400000000000]]",
  )
  expect(alive).toBe(0)
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/echo.ts")}\`\`\``)
})
