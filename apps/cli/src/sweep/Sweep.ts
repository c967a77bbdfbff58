import { availableParallelism } from "node:os"
import { Ns3FormatError } from "@rdmakit/ns3"
import { type InputNote, InputsRefused } from "@rdmakit/scenario"
import { Effect, FileSystem, Option, Path } from "effect"
import manifest from "../../package.json" with { type: "json" }
import { type ControllerInput, strayFault } from "../ControllerModule.ts"
import { Exit, exitCodes, Refused } from "../Exit.ts"
import { foldIdleKeys, showNotes, withJsonFaults } from "../Faults.ts"
import { counted, grouped, percent, short } from "../Figures.ts"
import { notesOf } from "../Inputs.ts"
import { Interrupts, signals } from "../Interrupts.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen, tell, WorkingDirectory } from "../Screen.ts"
import { STDIN } from "../StandardInput.ts"
import { StatusLine, timeLeft } from "../StatusLine.ts"
import { type Digests, digestsJson, fileNames, InputChanged, watchReads } from "./FileReads.ts"
import { type Aggregate, aggregateCsv, aggregates, type RunRecord, runsCsv } from "./RunRecord.ts"
import { AGGREGATE_FILE, openSweepFolder, RUNS_FILE, type SweepFolder } from "./SweepFolder.ts"
import { loadRunInputs, moduleOf, OPTION_PREFIX, type SweepSource } from "./SweepInputs.ts"
import { aggregateLines, flowNotes } from "./SweepTable.ts"
import { type PlannedRun, plannedRuns, probes, runCount, type VariedKey, VaryFault, variedKeys } from "./Vary.ts"
import { WorkerPool, type WorkerStart } from "./WorkerPool.ts"

export interface SweepInput extends ControllerInput {
  readonly file: string
  readonly vary: ReadonlyArray<string>
  readonly seeds: number
  readonly set: ReadonlyArray<string>
  readonly out: Option.Option<string>
  readonly jobs: Option.Option<number>
  readonly resume: boolean
  readonly force: boolean
  readonly json: boolean
}

const RUNS_MAX = 100_000
const LOOK_MS = 100
/** Failed runs that are named on the screen; runs.csv has them all. */
const NAMED_MAX = 5

/** Runs every combination of values and seeds, and sums up. */
export const sweep = (input: SweepInput) =>
  Effect.gen(function* () {
    const keys = yield* keysOf(input)
    const plan = plannedRuns(keys, input.seeds)
    const source: SweepSource = {
      file: input.file,
      set: input.set,
      controller: Option.getOrNull(input.controller),
      option: input.option,
      keys: keys.map(({ key }) => key),
    }
    const { begun, notes } = yield* tried(source, keys)
    if (!input.json) yield* showNotes(foldIdleKeys(notes), (yield* Screen).err)
    const path = yield* Path.Path
    const name = Option.getOrElse(input.out, () => `${path.parse(input.file).name}.sweep`)
    const described = {
      rdmakit: manifest.version,
      input: input.file,
      set: input.set,
      controller: source.controller,
      option: input.option,
      vary: keys,
      seeds: input.seeds,
      runs: plan.length,
      inputs: digestsJson(begun),
    }
    const folder = yield* openSweepFolder(name, described, plan, input)
    const records = new Map(folder.done)
    const stopped = yield* runRest(input, { source, begun, tried: probes(keys) }, folder, plan, records)
    if (stopped) return yield* stoppedEarly(input, name, records.size, plan.length)
    const all = plan.map(({ index }) => records.get(index)!)
    const rows = aggregates(all, input.seeds)
    yield* folder.table(AGGREGATE_FILE, aggregateCsv(keys, rows))
    // The last to be written: where it is, all is.
    yield* folder.table(RUNS_FILE, runsCsv(keys, all))
    yield* show(input, name, keys, all, rows, folder.done.size)
    if (all.some(({ status }) => status !== "finished")) return yield* new Exit({ code: exitCodes.notWell })
  }).pipe(withJsonFaults(input.json, input.file))

const keysOf = Effect.fnUntraced(function* ({ file, vary, seeds, controller }: SweepInput) {
  if (file === STDIN) {
    const hint = "each run reads its input for itself"
    return yield* new Refused({ message: "a sweep cannot read standard input: name a file", hint })
  }
  const keys = variedKeys(vary)
  if (keys instanceof VaryFault) return yield* new Refused({ message: keys.message })
  const replaced = Option.isSome(controller) ? keys.find(({ key }) => /^(controller|CC_MODE$)/.test(key)) : undefined
  if (replaced !== undefined) {
    return yield* new Refused({
      message: `--vary: found ${replaced.key} beside --controller, which takes its place`,
      hint: `vary ${OPTION_PREFIX}KEY, an option of the module, or leave --controller out`,
    })
  }
  const count = runCount(keys, seeds)
  if (count > RUNS_MAX) {
    return yield* new Refused({ message: `found ${grouped(count)} runs, expected at most ${grouped(RUNS_MAX)}` })
  }
  return keys
})

/** Loads the inputs with every value once, and tells them by what was read: whatever is wrong is said before any run. */
const tried = Effect.fnUntraced(function* (source: SweepSource, keys: ReadonlyArray<VariedKey>) {
  const path = yield* Path.Path
  const workingDirectory = yield* WorkingDirectory
  const nameOf = fileNames(path, workingDirectory, source.file)
  const { files, read, changed } = watchReads(yield* FileSystem.FileSystem, nameOf, new Map())
  const combinations = probes(keys)
  for (const module of modulesOf(source, combinations)) {
    yield* Effect.ignore(files.readFile(path.resolve(workingDirectory, module)))
  }
  const loaded = yield* Effect.forEach(combinations, (values) => loadRunInputs(source, { values, seed: 0 })).pipe(
    Effect.provideService(FileSystem.FileSystem, files),
    Effect.mapError((error) => (error._tag === "InputsRefused" ? atVary(error, source) : error)),
  )
  for (const file of changed) return yield* new Refused({ message: new InputChanged(file).message })
  return { begun: read as Digests, notes: distinctNotes(loaded.flatMap(notesOf)) }
})

/** The user's modules that make controllers of these combinations. */
const modulesOf = (source: SweepSource, combinations: ReadonlyArray<ReadonlyArray<string>>): ReadonlySet<string> =>
  new Set(combinations.map((values) => moduleOf(source, values)).filter((module) => module !== null))

/** Each once: most values change nothing about most of them. */
const distinctNotes = (notes: ReadonlyArray<InputNote>): ReadonlyArray<InputNote> => {
  const seen = new Set<string>()
  return notes.filter(({ file, line, column, text }) => {
    const note = JSON.stringify([file, line, column, text])
    return !seen.has(note) && seen.add(note)
  })
}

/** `flows[0].size` as `flows.0.size`. */
const dotted = (path: string): string => path.replaceAll(/\[(\d+)\]/g, ".$1")

/** Faults of varied keys stand at `--vary`. */
const atVary = ({ faults, notes }: InputsRefused, { keys }: SweepSource): InputsRefused => {
  const isVaried = ({ field, found }: Ns3FormatError): boolean =>
    keys.some(
      (key) =>
        [field, found]
          .map(dotted)
          .some(
            (text) => text === dotted(key) || text.startsWith(`${dotted(key)}=`) || text.startsWith(`${dotted(key)}.`),
          ) || dotted(key).startsWith(`${dotted(field)}.`),
    )
  const moved = faults.map((fault) => {
    if (fault.file !== "--set" || !isVaried(fault)) return fault
    const { line, column, field, found, expected, hint } = fault
    return new Ns3FormatError({ file: "--vary", line, column, field, found, expected, hint })
  })
  return new InputsRefused({ faults: moved, notes })
}

/** Makes the runs that are not complete; true when it was stopped before all were. */
const runRest = Effect.fnUntraced(function* (
  input: SweepInput,
  start: Omit<WorkerStart, "workingDirectory">,
  folder: SweepFolder,
  plan: ReadonlyArray<PlannedRun>,
  records: Map<number, RunRecord>,
) {
  const { err } = yield* Screen
  const interrupts = yield* Interrupts
  const pending = plan.filter(({ index }) => !records.has(index))
  const jobs = Option.getOrElse(input.jobs, availableParallelism)
  const workingDirectory = yield* WorkingDirectory
  const path = yield* Path.Path
  const modules = Array.from(
    modulesOf(start.source, start.tried),
    (file) => [file, path.resolve(workingDirectory, file)] as const,
  )
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new WorkerPool(pending, folder.done.values(), jobs, { ...start, workingDirectory })),
    (made) => Effect.sync(() => made.stop()),
  )
  yield* interrupts.hold(() => pool.stop())
  const line = new StatusLine(err, () => performance.now())
  const startMs = performance.now()
  let toldHops = 0
  let made = 0
  for (;;) {
    const ended = yield* Effect.promise(() => pool.take(LOOK_MS))
    for (const record of ended) {
      yield* Effect.tapError(folder.keep(record), () => line.clear)
      records.set(record.run, record)
      made++
    }
    if (ended.length === 0 && !pool.running) break
    yield* line.update((nowMs, sinceMs) => {
      const share = (made + pool.sharesUnderWay) / pending.length
      const hopsPerSecond = ((pool.packetHops - toldHops) / sinceMs) * 1000
      toldHops = pool.packetHops
      const elapsedMs = nowMs - startMs
      return [
        percent(share, 1),
        `${grouped(records.size)} of ${counted(plan.length, "run")}`,
        `${((made / elapsedMs) * 1000).toFixed(2)} runs/s`,
        `${short(hopsPerSecond)} hops/s`,
        ...timeLeft(share, elapsedMs),
      ].join("  ")
    })
  }
  yield* line.clear
  const changedUnderWay = ({ message }: InputChanged): Refused => {
    const complete = `${grouped(records.size)} of ${counted(plan.length, "run")} complete, in ${folder.name}`
    return new Refused({ message, hint: `${complete}: with the file as it was --resume goes on, --force begins anew` })
  }
  yield* Effect.tryPromise({ try: () => pool.ended, catch: (error) => workerBroke(error, modules) }).pipe(
    Effect.mapError((error) => (error instanceof InputChanged ? changedUnderWay(error) : error)),
    Effect.catch((error) => (error instanceof Refused ? error : Effect.die(error))),
  )
  return records.size < plan.length
}, Effect.scoped)

/** A worker without memory is no mistake of ours, nor what a controller throws outside its callbacks. */
const workerBroke = (
  error: unknown,
  modules: ReadonlyArray<readonly [file: string, absolute: string]>,
): Refused | Error => {
  if (error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
    const hint = "take fewer --jobs, and --resume for the rest"
    return new Refused({ message: "a run needed more memory than there is", hint })
  }
  for (const [file, absolute] of modules) {
    const stray = strayFault(file, absolute, error)
    if (stray !== undefined) return stray
  }
  return error instanceof Error ? error : new Error(String(error))
}

const stoppedEarly = Effect.fnUntraced(function* (input: SweepInput, folder: string, done: number, runs: number) {
  const signal = signals[(yield* Interrupts).received()]
  if (input.json) yield* print(JSON.stringify({ folder, partial: true, runs, done }))
  else {
    const { yellow } = paintOf((yield* Screen).out)
    const text = `${grouped(done)} of ${counted(runs, "run")} complete, in ${folder}: --resume goes on`
    yield* print(yellow(`stopped by ${signal.name}: ${text}`))
  }
  return yield* new Exit({ code: signal.code })
})

const show = Effect.fnUntraced(function* (
  input: SweepInput,
  folder: string,
  keys: ReadonlyArray<VariedKey>,
  records: ReadonlyArray<RunRecord>,
  rows: ReadonlyArray<Aggregate>,
  before: number,
) {
  const count = (status: RunRecord["status"]): number => records.filter((record) => record.status === status).length
  const counts = { finished: count("finished"), unfinished: count("unfinished"), failed: count("failed") }
  const notes = [...flowNotes(rows), ...notesOn(records, input.seeds)]
  if (input.json) {
    const aggregate = rows.map(({ values, ...rest }) => ({
      values: Object.fromEntries(keys.map(({ key }, i) => [key, values[i]])),
      ...rest,
    }))
    const files = { runs: RUNS_FILE, aggregate: AGGREGATE_FILE }
    const head = { folder, partial: false, input: input.file, seeds: input.seeds, runs: records.length }
    return yield* print(JSON.stringify({ ...head, ...counts, aggregate, notes, files }))
  }
  const { out } = yield* Screen
  const { bold, yellow, red } = paintOf(out)
  for (const line of aggregateLines(keys, rows, out.columns, bold)) yield* print(line)
  yield* print("")
  const parts = [
    `${counted(records.length, "run")}: ${grouped(counts.finished)} finished`,
    ...(counts.unfinished > 0 ? [`${grouped(counts.unfinished)} with flows unfinished`] : []),
    ...(counts.failed > 0 ? [`${grouped(counts.failed)} failed`] : []),
    ...(before > 0 ? [`${grouped(before)} of them before`] : []),
  ]
  yield* print(parts.join(", "))
  for (const note of notes) yield* print(`${yellow("note:")} ${note}`)
  yield* print(`results in ${folder}`)
  const bad = records.filter(({ status }) => status !== "finished")
  for (const { run, values, seed, status, reason } of bad.slice(0, NAMED_MAX)) {
    const where = [...keys.map(({ key }, i) => `${key}=${values[i]}`), `seed ${seed}`].join(", ")
    yield* tell(`${red(status)} run ${run} (${where}): ${reason}`)
  }
  if (bad.length > NAMED_MAX) yield* tell(`and ${grouped(bad.length - NAMED_MAX)} more: ${RUNS_FILE} has them all`)
})

const notesOn = (records: ReadonlyArray<RunRecord>, seeds: number): ReadonlyArray<string> => {
  if (seeds === 1) return []
  for (let at = 0; at < records.length; at += seeds) {
    const digests = new Set(records.slice(at, at + seeds).map(({ digest }) => digest))
    if (digests.size > 1 || digests.has(null)) return []
  }
  return ["every seed gave the same: nothing in this input is drawn"]
}
