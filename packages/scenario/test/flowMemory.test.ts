import { loadScenario } from "@rdmakit/scenario"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { mostAtOnce } from "../src/FlowMemory.ts"
import { memoryFiles } from "./memoryFiles.ts"

const base = "topology: { builder: star, hosts: 4 }\n"

const loadedWith = (memoryBytes: number, flows: string) =>
  Effect.runPromise(
    loadScenario("s.yaml", { workingDirectory: "/", memoryBytes }).pipe(
      Effect.map((inputs) => inputs.flows.length),
      Effect.result,
      Effect.provide(memoryFiles({ "/s.yaml": base + flows })),
    ),
  )

describe("flows that memory has no room for are refused", () => {
  const at = "{ from: 0..2, to: 3, size: 1KB, count: 100"
  it.each([
    [
      "of one entry",
      `flows: [${at} }]`,
      'flows[0]: found "300 flows that begin at the same moment", expected at most 192',
    ],
    [
      "of two",
      `flows: [${at.replace("2", "0")} }, ${at.replace("0..2", "0..1")} }]`,
      "expected at most 192, for each takes 2600 bytes",
    ],
    [
      "of another transport",
      `transport: { name: tcp }\nflows: [${at.replace("0..2", "0")} }]`,
      "at most 76, for each takes 6500",
    ],
    [
      "in all",
      `flows: [${Array.from({ length: 17 }, (_, i) => `${at.replace("0..2", "0")}, start: ${i}us }`)}]`,
      "at most 1666 flows in all; the process has no memory for more",
    ],
    [
      "of a workload, before all are made",
      "flows: { workload: ring, rounds: 2500000, gap: 1ns, size: 1 }",
      "at most 1666 flows in all",
    ],
  ])("%s", async (_, flows, message) => {
    const result = await loadedWith(500_000, flows)
    expect(Result.isFailure(result) ? result.failure.message : "accepted").toContain(message)
  })

  it("as many as there is room for load", async () => {
    const flows = `flows: [${at} }, ${at}, start: 1us }]`
    expect(await loadedWith(800_000, flows)).toEqual(Result.succeed(600))
  })
})

it("counts the flows that begin together", () => {
  expect(mostAtOnce([])).toBe(0)
  expect(mostAtOnce([0, 1, 1, 1, 2, 2])).toBe(3)
})
