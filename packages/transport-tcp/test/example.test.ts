import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { completion, probes, receivedBytes, retransmissions, timeouts } from "../examples/lostTail.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect([probes, timeouts, retransmissions, receivedBytes]).toEqual([1, 0, 4, 10_000])
  expect(completion).toMatchObject({ type: "completed", message: 42, bytes: 10_000 })
  expect(completion?.time).toBeLessThan(1e9)
  expect(read("../README.md")).toContain(read("../examples/lostTail.ts"))
})
