import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { report } from "../examples/quantities.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example prints what the README says", () => {
  expect(report).toBe("4KiB at 100Gbps arrives after 1.32768us; try again in 1.193084us")
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/quantities.ts")}\`\`\``)
  expect(read("../README.md")).toContain(report)
})
