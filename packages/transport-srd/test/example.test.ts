import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { goodput, packets } from "../examples/deadWay.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  const readme = read("../README.md")
  expect(readme).toContain(read("../examples/deadWay.ts"))
  expect(readme).toContain(`${(100 * goodput).toFixed(1)} % of the line`)
  expect(readme).toContain(`of ${packets.all.toLocaleString("en")} packets ${packets.lost} went into the dead way`)
})
