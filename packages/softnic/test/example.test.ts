import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { said } from "../examples/datagram.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(said.text).toBe("hello")
  const line = /^\d+\.\d{9} ([<>]) 127\.0\.0\.1 127\.0\.0\.2 Ud SendOnly psn 0 qp 0x[0-9a-f]+ 5 bytes$/
  expect(said.lines.map((each) => line.exec(each)?.[1])).toEqual([">", "<"])
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/datagram.ts")}\`\`\``)
})
