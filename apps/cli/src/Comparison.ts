import { type Ns3Fcts, Ns3FormatError, parseFct, TrComparer, type TrComparison, type TrSide } from "@rdmakit/ns3"
import { Effect, FileSystem } from "effect"
import { type ComparedFile, type ComparedPair, pairFiles, runOf } from "./ComparedFiles.ts"
import { Exit, exitCodes, Refused } from "./Exit.ts"
import { withJsonFaults } from "./Faults.ts"
import { FlowReport } from "./FlowReport.ts"
import { FlowRows } from "./FlowRows.ts"
import { type FlowsTable, isFlowsTable, parseFlowsTable } from "./FlowsTable.ts"
import { compareLines, lineReport } from "./LineComparison.ts"
import { paintOf } from "./Paint.ts"
import { reading } from "./Reading.ts"
import { print, Screen } from "./Screen.ts"
import { traceReport } from "./TraceReport.ts"

const CHUNK_OCTETS = 1 << 20

export interface CompareInput {
  readonly a: string
  readonly b: string
  readonly json: boolean
}

/** Both files of a pair, and what is to be said about them. */
interface PairReport {
  readonly pair: ComparedPair
  readonly same: boolean
  /** Neither side has a flow, or an event; undefined for what a run may well have none of. */
  readonly isEmpty?: boolean
  readonly lines: ReadonlyArray<string>
  readonly json: object
}

/** Compares two results and prints how far they agree; fails with exit code 1 when they do not. */
export const compare = (input: CompareInput) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    const paint = paintOf(out)
    const reports: Array<PairReport> = []
    for (const pair of yield* pairFiles(input.a, input.b)) reports.push(yield* reportOf(pair))
    const results = reports.filter(({ isEmpty }) => isEmpty !== undefined)
    if (results.length > 0 && results.every(({ isEmpty }) => isEmpty === true)) return yield* nothingIn(results[0]!)
    const same = reports.every((report) => report.same)
    if (input.json) {
      const parts = reports.map(({ json }) => json)
      yield* print(JSON.stringify(Object.assign({ a: input.a, b: input.b, identical: same }, ...parts)))
    } else {
      for (const { pair, lines } of reports) {
        if (pair.kind === "fct" || pair.kind === "trace") {
          yield* print(`${paint.bold("A")}  ${pair.a.name}\n${paint.bold("B")}  ${pair.b.name}`)
        }
        yield* print(lines.join("\n"))
        yield* print("")
      }
      yield* print(same ? paint.green("identical") : paint.yellow("different"))
    }
    if (!same) return yield* new Exit({ code: exitCodes.notWell })
  }).pipe(withJsonFaults(input.json, `${input.a} ${input.b}`))

const nothingIn = ({ pair: { kind, a, b } }: PairReport): Refused => {
  const what = kind === "trace" ? "no event" : "no flow"
  const message = `${a.name} and ${b.name}: found ${what} in either, expected results`
  return new Refused({ message, hint: "they are empty: nothing had happened, or they are no results of a run" })
}

const reportOf = (pair: ComparedPair) => {
  switch (pair.kind) {
    case "fct":
      return flowsReport(pair)
    case "trace":
      return tracesReport(pair)
    default:
      return linesReport(pair)
  }
}

const flowsReport = Effect.fnUntraced(function* (pair: ComparedPair) {
  const { out } = yield* Screen
  const read = Effect.fnUntraced(function* (file: ComparedFile) {
    const octets = yield* octetsOf(file)
    return yield* reading(() => {
      const fcts: Ns3Fcts & Partial<FlowsTable> = isFlowsTable(octets)
        ? parseFlowsTable(new TextDecoder().decode(octets), file.name)
        : parseFct(octets, file.name)
      checkWhole(octets, file.name)
      return fcts
    })
  })
  const sides = [yield* read(pair.a), yield* read(pair.b)] as const
  const report = new FlowReport(...sides)
  const runs = [yield* runOf(pair.a), yield* runOf(pair.b)]
  const [a, b] = runs.map((run) => run?.transport)
  const lines = [...report.lines(out.columns, paintOf(out).bold)]
  // A file of completion times has nothing of flows that never completed.
  const [rowsA, rowsB] = sides.map(({ rows }) => rows)
  const rows = rowsA !== undefined && rowsB !== undefined ? new FlowRows(rowsA, rowsB) : undefined
  if (rows !== undefined) lines.push(...rows.lines())
  for (const [i, side] of ["A", "B"].entries()) {
    if (runs[i]?.isPartial === true)
      lines.push(`${side} is of a run that was stopped: it has the flows alone that had finished`)
  }
  if (a !== undefined && b !== undefined && a !== b) {
    lines.push(`A is ${a}, B ${b}: their headers differ, and so do the ideal times that slowdowns are against`)
  }
  const transports = { a: a ?? null, b: b ?? null }
  const same = report.same && rows?.same !== false
  const isEmpty = sides.every(({ count, rows: own }) => count === 0 && (own ?? []).length === 0)
  return { pair, same, isEmpty, lines, json: { ...report.json(), ...rows?.json(), transports } } satisfies PairReport
})

const LINE_FEED = 0x0a
const SHOWN_MAX = 60

/** The last number of a file that was cut off is only some of its digits: nothing but the line's end says that it is whole. */
const checkWhole = (octets: Uint8Array, file: string): void => {
  if (octets.length === 0 || octets.at(-1) === LINE_FEED) return
  const start = octets.lastIndexOf(LINE_FEED) + 1
  const text = new TextDecoder().decode(octets.subarray(start))
  if (text.trim() === "") return
  const line = octets.subarray(0, start).reduce((sum, octet) => sum + Number(octet === LINE_FEED), 1)
  const expected = "a line that ends with a line feed"
  const hint = "the file may have been cut off; end its last line if it is whole"
  const found = text.slice(-SHOWN_MAX)
  throw new Ns3FormatError({ file, line, column: text.length + 1, field: "end of file", found, expected, hint })
}

const tracesReport = Effect.fnUntraced(function* (pair: ComparedPair) {
  const comparison = yield* compareTraces(pair)
  const { same, header, countA, countB, identical, differing, first, rest } = comparison
  const trace = { same, header, a: countA, b: countB, identical, differing, first: first ?? null, rest: rest ?? null }
  const isEmpty = countA === 0 && countB === 0
  return { pair, same, isEmpty, lines: traceReport(comparison), json: { trace } } satisfies PairReport
})

const linesReport = Effect.fnUntraced(function* (pair: ComparedPair) {
  const comparison = compareLines(yield* octetsOf(pair.a), yield* octetsOf(pair.b))
  const { same, linesA, linesB, first } = comparison
  const what = pair.kind === "pfc" ? "PFC events" : "queue lengths"
  const json = { [pair.kind]: { same, linesA, linesB, first: first ?? null } }
  return { pair, same, lines: lineReport(what, comparison), json } satisfies PairReport
})

/** Both traces at once, a chunk of either in turn, so that traces of any length fit. */
const compareTraces = Effect.fnUntraced(function* (pair: ComparedPair) {
  const comparer = new TrComparer(pair.a.name, pair.b.name)
  const sides = [
    { side: "a", next: yield* chunksOf(pair.a) },
    { side: "b", next: yield* chunksOf(pair.b) },
  ] as const
  const open = new Set<TrSide>(["a", "b"])
  while (open.size > 0) {
    for (const { side, next } of sides) {
      if (!open.has(side)) continue
      const chunk = yield* next
      if (chunk.length === 0) open.delete(side)
      else yield* reading(() => comparer.push(side, chunk))
    }
  }
  return yield* reading((): TrComparison => comparer.end())
}, Effect.scoped)

/** The next chunk of a file each time; an empty one at its end. */
const chunksOf = Effect.fnUntraced(function* ({ path, octets }: ComparedFile) {
  if (octets !== undefined) {
    let at = 0
    return Effect.sync(() => {
      at += CHUNK_OCTETS
      return octets.subarray(at - CHUNK_OCTETS, at)
    })
  }
  const file = yield* (yield* FileSystem.FileSystem).open(path)
  const chunk = new Uint8Array(CHUNK_OCTETS)
  return Effect.map(file.read(chunk), (length) => chunk.subarray(0, Number(length)))
})

const octetsOf = Effect.fnUntraced(function* ({ path, octets }: ComparedFile) {
  return octets ?? (yield* (yield* FileSystem.FileSystem).readFile(path))
})
