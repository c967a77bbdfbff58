import { readFileSync } from "node:fs"
import { flowsCsv, loadScenario, ScenarioSimulation, slowdownsOf } from "@rdmakit/scenario"
import { flowsParquet } from "@rdmakit/scenario/parquet"
import { Effect } from "effect"
import { parquetMetadata, parquetReadObjects } from "hyparquet"
import { expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const outcomeOf = async (overrides: ReadonlyArray<string> = []) => {
  const octets = readFileSync(new URL("../../../examples/scenarios/dumbbell.yaml", import.meta.url))
  const loaded = loadScenario("dumbbell.yaml", { workingDirectory: "/", octets, overrides })
  return runToEnd(new ScenarioSimulation(await Effect.runPromise(Effect.provide(loaded, memoryFiles({})))))
}

it.each([
  ["finished", []],
  ["stopped before the end", ["stop=250us"]],
])("the flows of a run that was %s are those of flows.csv", async (_, overrides) => {
  const outcome = await outcomeOf(overrides)
  const octets = flowsParquet(outcome)
  const rows = await parquetReadObjects({ file: octets.buffer as ArrayBuffer })
  const [header, ...lines] = flowsCsv(outcome).trimEnd().split("\n")
  const names = header!.split(",")
  const slowdowns = slowdownsOf(outcome)
  expect(rows).toHaveLength(24)
  expect(lines.filter((line) => line.includes("unfinished")).length).toBe(24 - outcome.flowsFinished)
  for (const [index, row] of rows.entries()) {
    expect(Object.keys(row)).toEqual(names)
    const quoted = (text: string | null): string => (text === null ? "" : `"${text}"`)
    const texts = { reason: quoted(row.reason), workload: quoted(row.workload) }
    const cells = Object.values({ ...row, slowdown: row.slowdown?.toFixed(6) ?? null, ...texts }).map(
      (value) => value ?? "",
    )
    expect(cells.join(",")).toBe(lines[index])
    expect(row.slowdown).toBe(Number.isNaN(slowdowns[index]!) ? null : slowdowns[index])
  }
})

it("times and sizes are integers of 64 bits, and what a flow may lack is nullable", async () => {
  const octets = flowsParquet(await outcomeOf())
  const { schema } = parquetMetadata(octets.buffer as ArrayBuffer)
  const types = Object.fromEntries(
    schema.slice(1).map(({ name, type, repetition_type }) => [name, [type, repetition_type]]),
  )
  expect(types).toMatchObject({
    flow: ["INT32", "REQUIRED"],
    size_bytes: ["INT64", "REQUIRED"],
    start_ps: ["INT64", "REQUIRED"],
    completion_ps: ["INT64", "OPTIONAL"],
    slowdown: ["DOUBLE", "OPTIONAL"],
    reason: ["BYTE_ARRAY", "OPTIONAL"],
  })
})

it("the same run gives the same bytes", async () => {
  const [a, b] = [flowsParquet(await outcomeOf()), flowsParquet(await outcomeOf())]
  expect(Buffer.compare(a, b)).toBe(0)
})
