/** What a run writes besides its summary, its table of flows and the simulator's own files. */
import {
  PARQUET_FILE,
  REPORT_FILE,
  Recorder,
  type Run,
  type RunOutcome,
  type SeriesName,
  seriesCsv,
  seriesFile,
  seriesNames,
} from "@rdmakit/scenario"
import { formatTime, tryParseTime } from "@rdmakit/units"
import { Effect, FileSystem, Option, Path } from "effect"
import { Refused } from "./Exit.ts"

export interface ResultsInput {
  readonly report: boolean
  readonly parquet: boolean
  /** Names with commas between them. */
  readonly series: ReadonlyArray<string>
  readonly sample: Option.Option<string>
}

/** What is wanted, read and checked. */
export interface WantedResults {
  readonly report: boolean
  readonly parquet: boolean
  readonly series: ReadonlyArray<SeriesName>
  /** ps; undefined: whatever keeps the series small. */
  readonly period: number | undefined
}

/** Samples, and rows of a series, that are kept when the user has set the period: files of tens of megabytes. */
const ROWS_MAX = 2 ** 20

export const wantedResults = Effect.fnUntraced(function* ({ report, parquet, series, sample }: ResultsInput) {
  const words = series.flatMap((list) => list.split(",")).map((word) => word.trim())
  for (const word of words) {
    if (isSeries(word)) continue
    const expected = `expected ${seriesNames.join(", ")}, or several with commas between them`
    return yield* new Refused({ message: `--series: found "${word}", ${expected}` })
  }
  const names = seriesNames.filter((name) => words.includes(name))
  if (Option.isNone(sample)) return { report, parquet, series: names, period: undefined } as WantedResults
  const period = tryParseTime(sample.value)
  if (typeof period !== "number") return yield* new Refused({ message: `--sample: ${period.message}` })
  if (period === 0) return yield* new Refused({ message: `--sample: found "${sample.value}", expected a time above 0` })
  return { report, parquet, series: names, period } as WantedResults
})

const isSeries = (word: string): word is SeriesName => (seriesNames as ReadonlyArray<string>).includes(word)

/** Watches a run for what is wanted of it; undefined when nothing of that needs watching. */
export const recorderOf = (run: Run, { report, series, period }: WantedResults): Recorder | undefined => {
  if (!report && series.length === 0) return undefined
  return new Recorder(run, period === undefined ? {} : { period, samplesMax: ROWS_MAX, rowsMax: ROWS_MAX })
}

/** The files' names, by what they hold. */
export const resultNames = ({ report, parquet, series }: WantedResults): Readonly<Record<string, string>> => ({
  ...(parquet ? { parquet: PARQUET_FILE } : {}),
  ...(report ? { report: REPORT_FILE } : {}),
  ...Object.fromEntries(series.map((name) => [name, seriesFile(name)])),
})

export interface Finished {
  readonly title: string
  readonly input: string
  readonly ideal: string
  readonly outcome: RunOutcome
  readonly recorder: Recorder | undefined
}

/** Writes them into a folder. What draws and packs is loaded here, not with the command. */
export const writeResults = Effect.fnUntraced(function* (
  folder: string,
  wanted: WantedResults,
  { recorder, ...finished }: Finished,
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (wanted.parquet) {
    const { flowsParquet } = yield* Effect.promise(() => import("@rdmakit/scenario/parquet"))
    yield* files.writeFile(path.join(folder, PARQUET_FILE), flowsParquet(finished.outcome))
  }
  if (recorder === undefined) return
  for (const name of wanted.series) {
    yield* files.writeFileString(path.join(folder, seriesFile(name)), seriesCsv(recorder, name))
  }
  if (!wanted.report) return
  const { reportPage } = yield* Effect.promise(() => import("@rdmakit/scenario/report"))
  yield* files.writeFileString(path.join(folder, REPORT_FILE), reportPage({ ...finished, recorder }))
})

/** What is said of the series: how often they were sampled, and why less often than was asked for. */
export const seriesLine = (wanted: WantedResults, recorder: Recorder | undefined): string | undefined => {
  if (recorder === undefined || wanted.series.length === 0) return undefined
  const asked = wanted.period
  const coarser =
    asked !== undefined && recorder.period > asked ? `, not ${formatTime(asked)}: more would be too many to keep` : ""
  return `${wanted.series.join(", ")} sampled every ${formatTime(recorder.period)}${coarser}`
}
