import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { completion, receivedBytes, sentPsns } from "../examples/lostTail.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(sentPsns).toEqual([0, 1, 2, 2])
  expect(completion).toMatchObject({ type: "completed", message: 42, bytes: 2500 })
  expect(receivedBytes).toBe(2500)
  expect(completion!.time / 1e6).toBeCloseTo(504, 0)
  expect(read("../README.md")).toContain(read("../examples/lostTail.ts"))
})
