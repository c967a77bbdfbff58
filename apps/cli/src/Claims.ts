import { availableParallelism } from "node:os"
import {
  claimsCsv,
  claimsJson,
  type EvaluatedFigure,
  evaluate,
  type Figure,
  figures as known,
  type Measured,
  numberText,
  publishedText,
  runFigures,
  selectClaims,
  type Tally,
  tallyOf,
  widthText,
} from "@rdmakit/harness"
import { Effect, FileSystem, Option, Path } from "effect"
import { listClaims } from "./ClaimsListing.ts"
import { costMeter } from "./Execution.ts"
import { Exit, exitCodes, Refused } from "./Exit.ts"
import { counted } from "./Figures.ts"
import { Interrupts, signals } from "./Interrupts.ts"
import { paintOf } from "./Paint.ts"
import { openResultFolder } from "./ResultFolder.ts"
import { print, Screen, tell } from "./Screen.ts"
import { CLEAR_LINE } from "./Shown.ts"
import { type Column, tableLines } from "./Table.ts"

export interface ClaimsInput {
  readonly ids: ReadonlyArray<string>
  readonly quick: boolean
  readonly full: boolean
  readonly out: string
  readonly jobs: Option.Option<number>
  readonly force: boolean
  readonly json: boolean
  /** Figures are listed, and nothing is measured. */
  readonly list?: boolean
  /** A line for each figure in place of its table. */
  readonly brief?: boolean
}

// From sources, workers are too; in the bundle their program lies beside ours.
const fromSources = import.meta.url.endsWith(".ts")
const worker = new URL(fromSources ? "../../harness/src/worker.ts" : "./ClaimsWorker.js", import.meta.url)

/** Measures published claims, prints them beside what was published and writes the page of them. */
export const claims = (input: ClaimsInput) =>
  Effect.gen(function* () {
    const cost = costMeter(false)
    const { json } = input
    if (input.quick && input.full) {
      return yield* new Refused({ message: "--quick --full: found both, expected one of them" })
    }
    const scale = input.full ? "full" : "quick"
    const selected = selectClaims(known, input.ids)
    if (!isSelection(selected)) {
      const { id, near } = selected
      const hint = near === undefined ? "rdmakit claims --list names those there are" : `did you mean ${near}?`
      return yield* new Refused({ message: `${id}: found no figure and no claim of that name`, hint })
    }
    if (input.list === true) return yield* listClaims(selected, json)
    const folder = yield* openResultFolder(input.out, { force: input.force, input: SUMMARY_INPUT })
    const { measured, stopped } = yield* runAll(
      selected.map(({ figure }) => figure),
      scale,
      Option.getOrElse(input.jobs, () => Math.min(JOBS_DEFAULT_MAX, availableParallelism())),
    )
    const whole = stopped === undefined ? selected : selected.filter(({ figure }) => isMeasured(figure, measured))
    if (stopped !== undefined && whole.length === 0) return yield* new Exit({ code: signals[stopped].code })
    const figures = evaluate(whole, measured, scale)
    const tally = tallyOf(figures)
    const document = claimsJson(figures, tally, scale)
    const { claimsPage } = yield* Effect.promise(() => import("@rdmakit/harness/report"))
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = { page: "claims.html", json: "claims.json", csv: "claims.csv" }
    const texts = [
      [names.page, claimsPage(figures, tally, scale)],
      [names.json, `${JSON.stringify(document, undefined, 2)}\n`],
      [names.csv, claimsCsv(figures)],
      [
        "summary.json",
        `${JSON.stringify({ input: SUMMARY_INPUT, scale, partial: stopped !== undefined, tally, files: names }, undefined, 2)}\n`,
      ],
    ] as const
    for (const [name, text] of texts) yield* files.writeFileString(path.join(folder.staging, name), text)
    yield* folder.publish
    if (json)
      yield* print(JSON.stringify({ ...document, partial: stopped !== undefined, folder: folder.name, ...cost() }))
    else if (input.brief === true) yield* showBriefly(figures, tally, `${folder.name}/${names.page}`)
    else yield* show(figures, tally, `${folder.name}/${names.page}`, cost().wallSeconds)
    if (stopped !== undefined) {
      const { code, name } = signals[stopped]
      const rest = counted(selected.length - whole.length, "figure")
      const { err } = yield* Screen
      yield* tell(paintOf(err).yellow(`stopped by ${name} with ${rest} not measured: the results are partial`))
      return yield* new Exit({ code })
    }
    if (tally.reversed > 0 || tally.notMeasured > 0) return yield* new Exit({ code: exitCodes.notWell })
  }).pipe(Effect.scoped)

/** A run of the large network takes some hundred megabytes. */
const JOBS_DEFAULT_MAX = 8

/** Runs that end between two lines about them, where nobody watches. */
const TOLD_EVERY = 10

/** What a folder of claims says it is of. */
const SUMMARY_INPUT = "claims"

const isSelection = <A>(value: ReadonlyArray<A> | object): value is ReadonlyArray<A> => Array.isArray(value)

/** Whether every run of a figure has ended. */
const isMeasured = (figure: Figure, measured: ReadonlyArray<Measured>): boolean =>
  figure.systems.every(({ name }) => measured.some((run) => run.figure === figure.id && run.system === name))

/** Runs in worker threads, telling of each that ended; Ctrl-C stops them, and what had ended is kept. */
const runAll = (figures: Parameters<typeof runFigures>[0], scale: "quick" | "full", workers: number) =>
  Effect.gen(function* () {
    const { err } = yield* Screen
    const interrupts = yield* Interrupts
    const abort = new AbortController()
    yield* interrupts.hold(() => abort.abort())
    const context = yield* Effect.context<never>()
    const onDone = ({ figure, system }: { figure: string; system: string }, done: number, total: number): void => {
      if (!err.isTerminal && done % TOLD_EVERY !== 0 && done !== total) return
      const line = `${done} of ${counted(total, "run")}: ${figure}, ${system}`
      const text = err.isTerminal ? `${CLEAR_LINE}${line.slice(0, err.columns - 1)}` : `${line}\n`
      Effect.runSyncWith(context)(err.write(text))
    }
    const options = { scale, workers, worker, onDone, signal: abort.signal }
    const execArgv = fromSources ? ["--conditions=@rdmakit/source"] : undefined
    const measured = yield* Effect.promise(() =>
      runFigures(figures, { ...options, ...(execArgv === undefined ? {} : { execArgv }) }),
    )
    if (err.isTerminal) yield* err.write(CLEAR_LINE)
    return { measured, stopped: abort.signal.aborted ? interrupts.received() : undefined }
  }).pipe(Effect.scoped)

const HEAD: ReadonlyArray<Column> = [
  { header: "claim", align: "left" },
  { header: "system", align: "left" },
  { header: "published" },
  { header: "mark", align: "left", droppable: 1 },
  { header: "measured" },
  { header: "noise", droppable: 0 },
  { header: "verdict", align: "left" },
]

const show = (figures: ReadonlyArray<EvaluatedFigure>, tally: Tally, page: string, seconds: number) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    const paint = paintOf(out)
    for (const { figure, less, claims: own } of figures) {
      yield* print(paint.bold(`${figure.id}  ${figure.title}`))
      yield* print(`${figure.source}, ${figure.section}${less === undefined ? "" : `; here ${less}`}`)
      const rows = own.flatMap(({ claim, unit, noise, rows: numbers }) =>
        numbers.map(({ system, published, measured, verdict }, index) => [
          index === 0 ? claim.id : "",
          system,
          publishedText(published, unit),
          published === undefined ? "" : claim.mark,
          numberText(measured, unit),
          index === 0 ? widthText(noise) : "",
          verdict ?? "",
        ]),
      )
      for (const line of tableLines(HEAD, rows, { columns: out.columns })) yield* print(line)
      for (const { claim, order } of own) {
        for (const { lower, higher, reason } of order.reversals) {
          const word = reason === undefined ? paint.red("reversed:") : paint.yellow("reversed, explained:")
          yield* print(`${word} ${claim.id}: ${lower} not below ${higher}${reason === undefined ? "" : `: ${reason}`}`)
        }
      }
      yield* print("")
    }
    yield* tell(`${seconds.toFixed(0)} s. Wrote ${page}`)
    yield* print(tallyText(tally))
  })

const showBriefly = (figures: ReadonlyArray<EvaluatedFigure>, tally: Tally, page: string) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    const head: ReadonlyArray<Column> = [
      { header: "figure", align: "left" },
      { header: "within" },
      { header: "outside" },
      { header: "shape only" },
      { header: "orders right" },
      { header: "what", align: "left", droppable: 0 },
    ]
    const rows = figures.map((each) => {
      const { within, outside, shapeOnly, pairs, explained, reversed } = tallyOf([each])
      const right = `${pairs - explained - reversed} of ${pairs}`
      return [each.figure.id, String(within), String(outside), String(shapeOnly), right, each.figure.title]
    })
    for (const line of tableLines(head, rows, { columns: out.columns, header: paintOf(out).bold })) yield* print(line)
    yield* tell(`Every number is in ${page}; why one is outside, where that is known, too`)
    yield* print(tallyText(tally))
  })

const tallyText = (tally: Tally): string => {
  const {
    numbers,
    within,
    outside,
    shapeOnly,
    notMeasured,
    calibrated,
    pairs,
    explained,
    reversed,
    notShown,
    met,
    missed,
  } = tally
  const parts = [`${within} within`, `${outside} outside`, `${shapeOnly} shape only`]
  if (notMeasured > 0) parts.push(`${notMeasured} not measured`)
  if (calibrated > 0) parts.push(`${calibrated} calibrated`)
  const bars = met + missed > 0 ? `; ${met} of ${counted(met + missed, "bar")} of ours met` : ""
  const right = pairs - explained - reversed
  const below = notShown > 0 ? `, ${notShown} more below the noise` : ""
  return `${counted(numbers, "number")}: ${parts.join(", ")}${bars}; ${right} of ${counted(pairs, "order")} right, ${explained} explained, ${reversed} wrong${below}`
}
