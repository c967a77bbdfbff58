import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { expect, test } from "vitest"
import { sums } from "../examples/allReduce.ts"
import { received, reordered } from "../examples/messages.ts"
import { simulated } from "../examples/overSrd.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

test("the example receives in the order of sending what came turned around", () => {
  expect(received).toEqual([1_048_576, 8])
  expect(reordered).toBe(1)
  expect(read("../README.md")).toContain(read("../examples/messages.ts"))
})

test("the example over SRD ends its messages in the order they were sent", async () => {
  expect((await Effect.runPromise(simulated)).value).toEqual([1_048_576, 8, 100_000, 0])
  expect(read("../README.md")).toContain(read("../examples/overSrd.ts"))
})

test("the example of a collective sums everywhere", () => {
  for (const sum of sums) expect([...sum]).toEqual([10])
  expect(read("../README.md")).toContain(read("../examples/allReduce.ts"))
})
