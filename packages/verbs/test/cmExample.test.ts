import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { program } from "../examples/byAddress.ts"
import { resultOf } from "./program.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the README's example of a connection by address does what it says", () => {
  expect(resultOf(program("10.0.0.2"))).toEqual({ received: "Success", text: "hello" })
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/byAddress.ts")}\`\`\``)
})
