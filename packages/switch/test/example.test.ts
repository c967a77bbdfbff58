import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { report } from "../examples/incast.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  for (const line of report) expect(read("../README.md")).toContain(`\`${line}\``)
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/incast.ts")}\`\`\``)
})
