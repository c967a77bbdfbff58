import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { program as atomics } from "../examples/atomics.ts"
import { program } from "../examples/twoEndpoints.ts"
import { overTcp, real, simulated } from "../examples/worlds.ts"
import { worlds } from "./worlds.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

const expected = { said: "hello", read: "written" }

it.each(worlds)("the example does on $name what the README says", async ({ resultOf }) => {
  expect(await resultOf(program)).toEqual(expected)
})

it.each(worlds)("the example of atomics does on $name what the README says", async ({ resultOf }) => {
  expect(await resultOf(atomics)).toEqual({ counted: 5n, free: 0n, taken: 7n })
})

it("the same program runs in any world", async () => {
  const { value, time, digest } = await Effect.runPromise(simulated)
  expect(value).toEqual(expected)
  expect(time).toBeLessThan(20e6)
  expect((await Effect.runPromise(simulated)).digest).toBe(digest)
  expect(await Effect.runPromise(real)).toEqual(expected)
  expect(await Effect.runPromise(overTcp)).toEqual(expected)
})

it("the README has the examples, the first in less than 40 lines", () => {
  const example = read("../examples/twoEndpoints.ts")
  expect(read("../README.md")).toContain(example)
  expect(read("../README.md")).toContain(read("../examples/worlds.ts"))
  expect(read("../README.md")).toContain(read("../examples/atomics.ts"))
  expect(read("../README.md")).toContain(read("../examples/manyPeers.ts"))
  expect(example.trimEnd().split("\n").length).toBeLessThan(40)
})
