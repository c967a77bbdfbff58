import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { least, most, queues } from "../examples/share.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  const readme = read("../README.md")
  expect(readme).toContain(read("../examples/share.ts"))
  expect(readme).toContain(`between ${(100 * least).toFixed(1)} and ${(100 * most).toFixed(1)} % of its share`)
  expect(readme).toContain(`from ${queues[0].toLocaleString("en")} to ${queues[1].toLocaleString("en")} bytes`)
})
