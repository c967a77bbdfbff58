import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { bytes, report } from "../examples/octets.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect({ bytes, report }).toEqual({ bytes: 1074, report: { to: 2, flow: 6, psn: 0, messageBytes: 1_000_000 } })
  const readme = read("../README.md")
  expect(readme).toContain(`\`\`\`ts\n${read("../examples/octets.ts")}\`\`\``)
  expect(readme).toContain("1,074 octets")
})
