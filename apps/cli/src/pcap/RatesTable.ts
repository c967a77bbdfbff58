import { Observer, type RateRow, Rates, type RatesResult, rateFields } from "@rdmakit/analysis"
import { formatTime, NANOSECOND, tryParseTime } from "@rdmakit/units"
import { Effect, Option } from "effect"
import { Exit, exitCodes, Refused } from "../Exit.ts"
import { grouped, percent, quantity, short } from "../Figures.ts"
import { paintOf } from "../Paint.ts"
import { print, printLines, Screen, tell } from "../Screen.ts"
import { type Column, lineByLine, tableLines } from "../Table.ts"
import type { AnalysisInput } from "./Analysis.ts"
import { filterOf, visitFiles } from "./CaptureInput.ts"
import { formatDuration, formatSeconds } from "./Times.ts"

export interface RatesInput extends AnalysisInput {
  readonly csv: boolean
  readonly interval: Option.Option<string>
  readonly top: number
}

/** Lines for a person. */
const ROWS_SHOWN = 24
/** Intervals of a length that was asked for. */
const INTERVALS_MAX = 1_000_000

const intervalOf = (interval: Option.Option<string>) =>
  Effect.suspend(() => {
    if (Option.isNone(interval)) return Effect.succeed(undefined)
    const time = tryParseTime(interval.value)
    if (typeof time === "number" && time >= NANOSECOND) return Effect.succeed(time / NANOSECOND)
    const why = typeof time === "number" ? "" : `; ${time.message}`
    const expected = "expected a time of at least 1ns, such as 10ms"
    return Effect.fail(new Refused({ message: `--interval: found "${interval.value}", ${expected}${why}` }))
  })

/** Prints what happened over time, and who sent most. */
export const rates = Effect.fnUntraced(function* (input: RatesInput) {
  const observer = new Observer()
  const filter = yield* filterOf(input, observer)
  const intervalNs = yield* intervalOf(input.interval)
  const isForPeople = !input.json && !input.csv && intervalNs === undefined
  const counter = new Rates(
    intervalNs === undefined
      ? { intervalsMax: isForPeople ? ROWS_SHOWN : undefined }
      : { intervalNs, intervalsMax: INTERVALS_MAX },
  )
  const visited = yield* visitFiles(input.files, input.rotated, (packet, frame) => {
    const sighting = observer.observe(packet, frame)
    if (filter.passes(sighting)) counter.sighting(sighting)
  })
  const result = counter.result(observer.addresses, input.top)
  if (intervalNs !== undefined && result.intervalNs > intervalNs) {
    const asked = formatTime(intervalNs * NANOSECOND)
    yield* tell(
      `note: intervals of ${formatTime(result.intervalNs * NANOSECOND)}, not ${asked}: there would be more than ${grouped(INTERVALS_MAX)}`,
    )
  }
  if (input.csv) {
    yield* printLines(csvLines(result))
  } else if (input.json) {
    yield* print(
      JSON.stringify({ file: visited.name, ok: visited.fault === undefined, ...result, fault: visited.fault }),
    )
  } else yield* tellRates(result)
  if (visited.fault === undefined) return
  yield* tell(`warning: ${visited.fault}`)
  return yield* new Exit({ code: exitCodes.notWell })
})

function* csvLines({ rows }: RatesResult): Generator<string, void> {
  yield ["startNs", ...rateFields].join(",")
  for (const row of rows) yield [row.startNs, ...rateFields.map((field) => row[field])].join(",")
}

const columns: ReadonlyArray<Column> = [
  { header: "seconds" },
  { header: "packets" },
  { header: "b/s" },
  { header: "marked" },
  { header: "CNPs" },
  { header: "pauses" },
  { header: "again" },
  { header: "NAKs" },
  { header: "RNR" },
  { header: "", align: "left", droppable: 1 },
]
const BAR = 24

const tellRates = Effect.fnUntraced(function* ({ intervalNs, rows, talkers, busiest }: RatesResult) {
  const { out } = yield* Screen
  const paint = paintOf(out)
  const count = (value: number): string => (value === 0 ? "-" : grouped(value))
  // Microseconds, where they tell one interval from the next.
  const digitsLess = intervalNs % 1000 === 0 ? -3 : undefined
  const cells = (row: RateRow): ReadonlyArray<string> => [
    formatSeconds(row.startNs).slice(0, digitsLess),
    grouped(row.packets),
    short((row.wireBytes * 8e9) / intervalNs),
    row.marked === 0 ? "-" : percent(row.marked, row.packets),
    count(row.cnps),
    count(row.pauses),
    count(row.repeated),
    count(row.naks),
    count(row.rnrNaks),
    "█".repeat(Math.round((BAR * row.wireBytes) / Math.max(1, busiest.max))),
  ]
  yield* print(`intervals of ${formatDuration(intervalNs)}`)
  const all = {
    *[Symbol.iterator]() {
      for (const row of rows) yield cells(row)
    },
  }
  yield* printLines(lineByLine(columns, all, { columns: out.columns, header: paint.bold }))
  if (talkers.length === 0) return
  const list = talkers.map(({ source, destination, packets, wireBytes }) => [
    source,
    destination,
    grouped(packets),
    quantity(wireBytes, "B"),
  ])
  const heads: ReadonlyArray<Column> = [
    { header: "from", align: "left" },
    { header: "to", align: "left" },
    { header: "packets" },
    { header: "octets" },
  ]
  yield* print(`\n${tableLines(heads, list, { columns: out.columns, header: paint.bold }).join("\n")}`)
})
