import { sizeEnds } from "@rdmakit/metrics"
import { type RunOutcome, slowdownRows } from "@rdmakit/scenario"
import { counted, grouped, ratio, sizeLabel } from "./Figures.ts"
import { type Column, tableLines } from "./Table.ts"

/** The same as programs read it: `upToBytes` is null for the last range, which has no end, and "all" for the last row. */
export const slowdownJson = (outcome: RunOutcome) =>
  slowdownRows(outcome).map(({ endBytes, ...stats }) => {
    const upToBytes = Number.isNaN(endBytes) ? "all" : Number.isFinite(endBytes) ? endBytes : null
    return { upToBytes, ...stats }
  })

const HEAD: ReadonlyArray<Column> = [
  { header: "size ≤" },
  { header: "flows" },
  { header: "p50" },
  { header: "p95" },
  { header: "p99" },
  { header: "mean", droppable: 0 },
]

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
