/**
 * Reads `flows.parquet` as its users do: `node --conditions=@rdmakit/source scripts/oracles/parquet.ts`. Runs of
 * scenarios, finished and cut off, are written both ways; pyarrow, pandas and DuckDB, those
 * that `python3` (or `PYTHON`) can import, have to give the rows of `flows.csv`, whole numbers as whole numbers. It ends
 * with a line of counts, and skips where there is none of them.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { flowsCsv, loadScenario, ScenarioSimulation } from "../../packages/scenario/src/index.ts"
import { flowsParquet } from "../../packages/scenario/src/parquet.ts"
import { memoryFiles } from "../../packages/scenario/test/memoryFiles.ts"

const scenarios = fileURLToPath(new URL("../../examples/scenarios/", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "oracle-parquet-"))
let passed = 0
let failed = 0

/** Prints, by reader, the rows of the file that it is given: every cell as text, null as nothing, floats to six places. */
const reader = `
import json, sys
path = sys.argv[1]
def text(value):
    if value is None: return ""
    return "%.6f" % value if isinstance(value, float) else str(value)
def lines(names, rows):
    return [",".join(names)] + ["\\t".join(map(text, row)) for row in rows]
found = {}
try:
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(path)
    found["pyarrow"] = lines(table.column_names, zip(*table.to_pydict().values()))
    import pandas
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    cells = [[None if pandas.isna(cell) else cell for cell in row] for row in frame.astype(object).values.tolist()]
    found["pandas"] = lines(list(frame.columns), cells)
except ImportError:
    pass
try:
    import duckdb
    answer = duckdb.sql("select * from '%s' order by flow" % path)
    found["DuckDB"] = lines(answer.columns, answer.fetchall())
except ImportError:
    pass
print(json.dumps(found))
`

const python = process.env.PYTHON ?? "python3"

/** What each of the readers says; undefined where there is no Python. */
const read = (path: string): Record<string, ReadonlyArray<string>> | undefined => {
  const { status, stdout, stderr, error } = spawnSync(python, ["-c", reader, path], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  })
  if (error !== undefined) return undefined
  if (status === 0) return JSON.parse(stdout)
  failed++
  console.log(`${python} ended with ${status}: ${stderr.trim()}`)
  return {}
}

/** The rows of `flows.csv`. Of its cells the last alone, the reason, may be in quotes. */
const expected = (csv: string): ReadonlyArray<string> =>
  csv
    .trimEnd()
    .split("\n")
    .map((line, index) => {
      if (index === 0) return line
      const [, cells, reason] = /^((?:[^,"]*,)+)(.*)$/.exec(line)!
      const plain = reason!.startsWith('"') ? reason!.slice(1, -1).replaceAll('""', '"') : reason!
      return [...cells!.split(",").slice(0, -1), plain].join("\t")
    })

const compare = async (scenario: string, overrides: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const octets = readFileSync(join(scenarios, scenario))
  const load = loadScenario(scenario, { workingDirectory: "/", octets, overrides })
  const run = new ScenarioSimulation(await Effect.runPromise(load.pipe(Effect.provide(memoryFiles({})))))
  while (run.step(1 << 20)) {}
  const outcome = run.outcome(false)
  const path = join(folder, "flows.parquet")
  writeFileSync(path, flowsParquet(outcome))
  const rows = expected(flowsCsv(outcome))
  const answers = read(path) ?? {}
  for (const [name, lines] of Object.entries(answers)) {
    const at = rows.findIndex((row, index) => row !== lines[index])
    if (at < 0 && lines.length === rows.length) passed++
    else {
      failed++
      console.log(`${scenario} ${overrides.join(" ")}: line ${at + 1} is ${rows[at]} here, ${lines[at]} by ${name}`)
    }
  }
  return Object.keys(answers)
}

try {
  const readers = new Set<string>()
  for (const [scenario, overrides] of [
    ["dumbbell.yaml", []],
    ["dumbbell.yaml", ["stop=250us"]],
    ["dumbbell.yaml", ["stop=1ns"]],
    ["incast-16.yaml", []],
  ] as const)
    for (const name of await compare(scenario, overrides)) readers.add(name)
  console.log(
    readers.size === 0
      ? `${python} has none of pyarrow, pandas, DuckDB: skipped`
      : `read by ${[...readers].join(", ")}`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
