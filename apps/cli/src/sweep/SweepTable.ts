import { counted, grouped } from "../Figures.ts"
import { type Column, tableLines } from "../Table.ts"
import type { Aggregate, AggregatedName } from "./RunRecord.ts"
import type { VariedKey } from "./Vary.ts"

const shown: ReadonlyArray<readonly [name: AggregatedName, header: string, droppable?: number]> = [
  ["slowdown_p50", "p50"],
  ["slowdown_p95", "p95"],
  ["slowdown_p99", "p99"],
  ["slowdown_mean", "mean"],
  ["fct_mean_us", "FCT us", 0],
  ["fct_p99_us", "p99 us", 1],
  ["pfc_pauses", "pauses", 2],
  ["drops", "drops", 3],
]

/** A row for each combination of values: slowdowns, completion times, pauses and drops, means over seeds. */
export const aggregateLines = (
  keys: ReadonlyArray<VariedKey>,
  rows: ReadonlyArray<Aggregate>,
  columns: number,
  bold: (text: string) => string,
): ReadonlyArray<string> => {
  const most = Math.max(...rows.map(({ runs }) => runs))
  const head: ReadonlyArray<Column> = [
    ...keys.map(({ key }): Column => ({ header: key, align: "left" })),
    { header: "runs" },
    ...shown.map(([, header, droppable]) => ({ header, ...(droppable === undefined ? {} : { droppable }) })),
  ]
  const cells = rows.map(({ values, runs, figures }) => [
    ...values,
    grouped(runs),
    ...shown.map(([name]) => withInterval(figures[name])),
  ])
  const over = most > 1 ? `, mean over ${counted(most, "run")} ± 95 % confidence` : ""
  return [bold(`Slowdown${over}`), ...tableLines(head, cells, { columns, header: bold })]
}

const withInterval = ({ mean, ci95 }: { readonly mean: number | null; readonly ci95: number | null }): string => {
  if (mean === null) return "-"
  return ci95 === null ? figure(mean) : `${figure(mean)} ±${figure(ci95)}`
}

const figure = (value: number): string => (value >= 1000 ? grouped(value) : value.toFixed(value >= 100 ? 1 : 2))
