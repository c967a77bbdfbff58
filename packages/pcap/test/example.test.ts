import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { report } from "../examples/merge.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example prints what the README says", () => {
  const readme = read("../README.md")
  expect(readme).toContain(`\`\`\`ts\n${read("../examples/merge.ts")}\`\`\``)
  expect(readme).toContain(`\`\`\`\n${report.join("\n")}\n\`\`\``)
})
