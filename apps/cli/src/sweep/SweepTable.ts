import { counted, grouped } from "../Figures.ts"
import { type Column, tableLines } from "../Table.ts"
import type { Aggregate, AggregatedFigure, AggregatedName } from "./RunRecord.ts"
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

/**
 * A row for each combination of values: slowdowns, completion times, pauses and drops, means over seeds. When some
 * flows did not finish, a column says how many did.
 */
export const aggregateLines = (
  keys: ReadonlyArray<VariedKey>,
  rows: ReadonlyArray<Aggregate>,
  columns: number,
  bold: (text: string) => string,
): ReadonlyArray<string> => {
  const most = rows.reduce((largest, { runs }) => Math.max(largest, runs), 0)
  const isWhole = rows.every(({ flowsFinished, flowsTotal }) => flowsFinished === flowsTotal)
  const head: ReadonlyArray<Column> = [
    ...keys.map(({ key }): Column => ({ header: key, align: "left" })),
    { header: "runs" },
    ...(isWhole ? [] : [{ header: "flows" }]),
    ...shown.map(([, header, droppable]) => ({ header, ...(droppable === undefined ? {} : { droppable }) })),
  ]
  const cells = rows.map(({ values, runs, flowsFinished, flowsTotal, figures }) => [
    ...values,
    grouped(runs),
    ...(isWhole ? [] : [`${grouped(flowsFinished)} of ${grouped(flowsTotal)}`]),
    ...shown.map(([name]) => withInterval(figures[name])),
  ])
  const isAll = rows.every(({ figures }) => shown.every(([name]) => figures[name].n === most))
  const over = most > 1 ? `, mean over ${isAll ? "" : "up to "}${counted(most, "run")} ± 95 % confidence` : ""
  return [bold(`Slowdown${over}`), ...tableLines(head, cells, { columns, header: bold })]
}

/** Of what the slowdowns and completion times are, when they are not of all flows and runs. */
export const flowNotes = (rows: ReadonlyArray<Aggregate>): ReadonlyArray<string> => {
  const sum = (of: (row: Aggregate) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const runs = sum((row) => row.runs)
  const flows = sum(({ flowsTotal }) => flowsTotal)
  const finished = sum(({ flowsFinished }) => flowsFinished)
  const without = runs - sum(({ runsWithFlows }) => runsWithFlows)
  const notes: Array<string> = []
  if (finished < flows) {
    notes.push(
      `of ${counted(flows, "flow")} ${grouped(finished)} finished: slowdowns and completion times are of those`,
    )
  }
  if (without > 0 && without < runs) {
    notes.push(
      `in ${grouped(without)} of ${counted(runs, "run")} no flow finished: means of slowdowns and completion times leave them out`,
    )
  }
  return notes
}

const withInterval = ({ mean, ci95 }: AggregatedFigure): string => {
  if (mean === null) return "-"
  return ci95 === null ? figure(mean) : `${figure(mean)} ±${figure(ci95)}`
}

const figure = (value: number): string => (value >= 1000 ? grouped(value) : value.toFixed(value >= 100 ? 1 : 2))
