import { sizeEnds } from "@rdmakit/metrics"
import { type RunOutcome, slowdownByWorkload, slowdownRows, type WorkloadSlowdown } from "@rdmakit/scenario"
import { counted, grouped, ratio, sizeLabel } from "./Figures.ts"
import { type Column, tableLines } from "./Table.ts"

/** The same as programs read it: `upToBytes` is null for the last range, which has no end, and "all" for the last row. */
export const slowdownJson = (outcome: RunOutcome) => rowsJson(slowdownRows(outcome))

const rowsJson = (rows: WorkloadSlowdown["rows"]) =>
  rows.map(({ endBytes, ...stats }) => {
    const upToBytes = Number.isNaN(endBytes) ? "all" : Number.isFinite(endBytes) ? endBytes : null
    return { upToBytes, ...stats }
  })

/** The same of each workload; none where there is but one. */
export const workloadsJson = (outcome: RunOutcome) =>
  slowdownByWorkload(outcome).map(({ rows, ...workload }) => ({ ...workload, slowdown: rowsJson(rows) }))

const HEAD: ReadonlyArray<Column> = [
  { header: "size ≤" },
  { header: "flows" },
  { header: "p50" },
  { header: "p95" },
  { header: "p99" },
  { header: "mean", droppable: 0 },
]

/** Without their names: flows that are of no workload. */
const workloadLabel = (workload: string): string => (workload === "" ? "others" : workload)

const labelOf = (endBytes: number): string => (Number.isNaN(endBytes) ? "all" : sizeLabel(endBytes))

/** The table of one run. */
export const slowdownLines = (outcome: RunOutcome, columns: number, bold: (text: string) => string) => {
  const cells = slowdownRows(outcome).map(({ endBytes, count, mean, p50, p95, p99 }) => [
    labelOf(endBytes),
    grouped(count),
    ...[p50, p95, p99, mean].map(ratio),
  ])
  return [bold("Slowdown by flow size"), ...tableLines(HEAD, cells, { columns, header: bold })]
}

/** With more workloads than this the summary has them all, and the terminal the first. */
const TOLD_WORKLOADS = 12

/** A line for each workload, where there are several. */
export const workloadLines = (outcome: RunOutcome, columns: number, bold: (text: string) => string) => {
  const workloads = slowdownByWorkload(outcome)
  const cells = workloads.slice(0, TOLD_WORKLOADS).map(({ workload, rows }) => {
    const { count, mean, p50, p95, p99 } = rows.at(-1)!
    return [workloadLabel(workload), grouped(count), ...[p50, p95, p99, mean].map(ratio)]
  })
  if (cells.length === 0) return []
  const head = [{ header: "workload" }, ...HEAD.slice(1)]
  const more = workloads.length - cells.length
  const rest = more > 0 ? [`  and ${grouped(more)} more: summary.json has them all`] : []
  return ["", bold("Slowdown by workload"), ...tableLines(head, cells, { columns, header: bold }), ...rest]
}

/** Runs of the same flows, side by side; the name of each above its columns. */
export const sideBySideLines = (
  runs: ReadonlyArray<{ readonly name: string; readonly outcome: RunOutcome }>,
  columns: number,
  bold: (text: string) => string,
): ReadonlyArray<string> => {
  const tables = runs.map(({ outcome }) => new Map(slowdownRows(outcome).map((row) => [row.endBytes, row])))
  const ends = [...sizeEnds, Number.NaN].filter((end) => tables.some((table) => table.has(end)))
  const head: ReadonlyArray<Column> = [
    { header: "size ≤" },
    { header: "flows" },
    ...runs.flatMap(({ name }) => [{ header: `${name} p50` }, { header: "p95" }, { header: "p99" }]),
  ]
  const cells = ends.map((end) => [
    labelOf(end),
    grouped(tables[0]!.get(end)?.count ?? 0),
    ...tables.flatMap((table) => {
      const row = table.get(end)
      return [row?.p50, row?.p95, row?.p99].map((value) => ratio(value ?? Number.NaN))
    }),
  ])
  const flows = counted(runs[0]!.outcome.flowsTotal, "flow")
  return [bold(`Slowdown by flow size, ${flows}`), ...tableLines(head, cells, { columns, header: bold })]
}
