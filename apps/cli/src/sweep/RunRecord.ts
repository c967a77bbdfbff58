/** What a sweep keeps of each run: whatever depends on inputs and seed alone. */
import { meanInterval, statsOf } from "@rdmakit/metrics"
import { type RunOutcome, slowdownsOf } from "@rdmakit/scenario"
import { MICROSECOND } from "@rdmakit/units"
import type { PlannedRun, VariedKey } from "./Vary.ts"

/** Figures of a run in the order of the table, units last in their names. */
export const figureNames = [
  "flows",
  "flows_finished",
  "slowdown_mean",
  "slowdown_p50",
  "slowdown_p95",
  "slowdown_p99",
  "fct_mean_us",
  "fct_p50_us",
  "fct_p95_us",
  "fct_p99_us",
  "pfc_pauses",
  "pfc_pause_fraction",
  "drops",
  "retransmissions",
  "packet_hops",
  "simulated_us",
] as const
export type FigureName = (typeof figureNames)[number]

/** Those that are summed up over seeds. */
export const aggregatedNames = [
  "slowdown_mean",
  "slowdown_p50",
  "slowdown_p95",
  "slowdown_p99",
  "fct_mean_us",
  "fct_p50_us",
  "fct_p95_us",
  "fct_p99_us",
  "pfc_pauses",
  "drops",
] as const satisfies ReadonlyArray<FigureName>
export type AggregatedName = (typeof aggregatedNames)[number]

export interface RunRecord {
  readonly run: number
  readonly values: ReadonlyArray<string>
  readonly seed: number
  /** "unfinished": some flows did not finish; "failed": there is no result, and `reason` says why. */
  readonly status: "finished" | "unfinished" | "failed"
  readonly reason: string | null
  /** null: there is none, as the slowdown of no flows. */
  readonly figures: Readonly<Record<FigureName, number | null>> | null
  readonly digest: string | null
  /** SHA-256 of files that were read by this run and not when the sweep began: values that come together name them. */
  readonly inputs?: Readonly<Record<string, string>>
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

export const recordOf = ({ index, values, seed }: PlannedRun, outcome: RunOutcome): RunRecord => {
  const { flows } = outcome
  const times: Array<number> = []
  for (let flow = 0; flow < flows.count; flow++) {
    const timePs = flows.completionTime(flow)
    if (Number.isFinite(timePs)) times.push(timePs / MICROSECOND)
  }
  const slowdown = statsOf(slowdownsOf(outcome).filter((value) => !Number.isNaN(value)))
  const fct = statsOf(times)
  const numbers: Record<FigureName, number> = {
    flows: outcome.flowsTotal,
    flows_finished: outcome.flowsFinished,
    slowdown_mean: slowdown.mean,
    slowdown_p50: slowdown.p50,
    slowdown_p95: slowdown.p95,
    slowdown_p99: slowdown.p99,
    fct_mean_us: fct.mean,
    fct_p50_us: fct.p50,
    fct_p95_us: fct.p95,
    fct_p99_us: fct.p99,
    pfc_pauses: outcome.pfcPauses,
    pfc_pause_fraction: outcome.pfcPauseFraction,
    drops: Object.values(outcome.dropsByReason).reduce((sum, count) => sum + count, 0),
    retransmissions: outcome.retransmissions,
    packet_hops: outcome.packetHops,
    simulated_us: outcome.simulatedPs / MICROSECOND,
  }
  const figures = Object.fromEntries(figureNames.map((name) => [name, finite(numbers[name])]))
  return {
    run: index,
    values,
    seed,
    status: outcome.unfinished.length === 0 ? "finished" : "unfinished",
    reason: outcome.unfinished[0]?.reason ?? null,
    figures: figures as Record<FigureName, number | null>,
    digest: outcome.digest,
  }
}

export const failedRecord = ({ index, values, seed }: PlannedRun, reason: string): RunRecord => ({
  ...{ run: index, values, seed, status: "failed", reason, figures: null, digest: null },
})

/** The runs of one combination of values, summed up over their seeds. */
export interface Aggregate {
  readonly values: ReadonlyArray<string>
  /** Those that have a result. */
  readonly runs: number
  /** Those of them in which a flow finished: the others have no slowdown and no completion time. */
  readonly runsWithFlows: number
  /** Of all these runs together. */
  readonly flowsFinished: number
  readonly flowsTotal: number
  readonly figures: Readonly<Record<AggregatedName, AggregatedFigure>>
}

export interface AggregatedFigure {
  readonly mean: number | null
  readonly ci95: number | null
  /** Runs that have it. */
  readonly n: number
}

export const aggregates = (records: ReadonlyArray<RunRecord>, seeds: number): ReadonlyArray<Aggregate> => {
  const rows: Array<Aggregate> = []
  for (let at = 0; at < records.length; at += seeds) {
    const results = records.slice(at, at + seeds).filter(({ figures }) => figures !== null)
    const figures = Object.fromEntries(
      aggregatedNames.map((name) => {
        const known = results.map((record) => record.figures![name]).filter((value) => value !== null)
        const { mean, halfWidth, count } = meanInterval(known)
        return [name, { mean: finite(mean), ci95: finite(halfWidth), n: count }]
      }),
    )
    const flowsOf = (name: "flows" | "flows_finished") => results.map((record) => record.figures![name] ?? 0)
    const sum = (counts: ReadonlyArray<number>): number => counts.reduce((total, count) => total + count, 0)
    const finished = flowsOf("flows_finished")
    rows.push({
      values: records[at]!.values,
      runs: results.length,
      runsWithFlows: finished.filter((count) => count > 0).length,
      flowsFinished: sum(finished),
      flowsTotal: sum(flowsOf("flows")),
      figures: figures as Aggregate["figures"],
    })
  }
  return rows
}

const flowColumns = ["runs_with_flows", "flows_finished", "flows_total"]

const cell = (value: string | number | null): string => {
  const text = value === null ? "" : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
const csv = (rows: ReadonlyArray<ReadonlyArray<string | number | null>>): string =>
  rows.map((row) => `${row.map(cell).join(",")}\n`).join("")

/** A row for each run. */
export const runsCsv = (keys: ReadonlyArray<VariedKey>, records: ReadonlyArray<RunRecord>): string =>
  csv([
    ["run", ...keys.map(({ key }) => key), "seed", "status", ...figureNames, "digest", "reason"],
    ...records.map(({ run, values, seed, status, figures, digest, reason }) => [
      ...[run, ...values, seed, status],
      ...figureNames.map((name) => figures?.[name] ?? null),
      ...[digest, reason],
    ]),
  ])

/**
 * A row for each combination of values: means over seeds, and half the width of their 95 % confidence intervals; last,
 * of how many runs and flows the slowdowns and completion times are.
 */
export const aggregateCsv = (keys: ReadonlyArray<VariedKey>, rows: ReadonlyArray<Aggregate>): string =>
  csv([
    [
      ...keys.map(({ key }) => key),
      "runs",
      ...aggregatedNames.flatMap((name) => [name, `${name}_ci95`]),
      ...flowColumns,
    ],
    ...rows.map(({ values, runs, runsWithFlows, flowsFinished, flowsTotal, figures }) => [
      ...[...values, runs],
      ...aggregatedNames.flatMap((name) => [figures[name].mean, figures[name].ci95]),
      ...[runsWithFlows, flowsFinished, flowsTotal],
    ]),
  ])
