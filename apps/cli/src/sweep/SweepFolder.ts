/** The folder of a sweep: a file for each run that is complete, tables when all are. */
import { Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import { cannotBeWritten, Refused } from "../Exit.ts"
import { identityOf, makeFolder } from "../OutputFile.ts"
import { WorkingDirectory } from "../Screen.ts"
import type { RunRecord } from "./RunRecord.ts"
import type { PlannedRun } from "./Vary.ts"

export const MANIFEST_FILE = "sweep.json"
export const RUNS_FILE = "runs.csv"
export const AGGREGATE_FILE = "aggregate.csv"
const RUNS_FOLDER = "runs"
/** Digits of a run's file name; longer numbers are longer. */
const DIGITS = 6
/** What is not yet whole has a name of this kind; the next sweep in the folder takes it away. */
const UNFINISHED = /^\..*-unfinished$/
const ELSEWHERE = "choose another folder with --out DIR"

/** What a sweep is of: a folder is gone on with by the same sweep alone. */
export type Manifest = Readonly<Record<string, unknown>>

export interface SweepFolderOptions {
  readonly resume: boolean
  readonly force: boolean
}

export interface SweepFolder {
  readonly name: string
  /** Runs that are complete, by their numbers. */
  readonly done: ReadonlyMap<number, RunRecord>
  /** Keeps a run that is complete. */
  readonly keep: (record: RunRecord) => Effect.Effect<void, Refused>
  /** Writes a table. */
  readonly table: (file: string, text: string) => Effect.Effect<void, Refused>
}

const cannotWrite =
  (name: string) =>
  (error: PlatformError.PlatformError): Refused =>
    cannotBeWritten(name, ELSEWHERE, error)

const refusedIn =
  (name: string) =>
  (error: PlatformError.PlatformError | Refused): Refused =>
    error._tag === "Refused" ? error : cannotWrite(name)(error)

/** Looks at the place of a sweep's results and makes it ready; what is wrong with it is found before any run. */
export const openSweepFolder = Effect.fnUntraced(function* (
  name: string,
  manifest: Manifest,
  plan: ReadonlyArray<PlannedRun>,
  { resume, force }: SweepFolderOptions,
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const target = path.resolve(yield* WorkingDirectory, name)
  const runs = path.join(target, RUNS_FOLDER)
  const manifestFile = path.join(target, MANIFEST_FILE)
  const before = yield* contentOf(target, name)
  const wanted = manifestText(manifest)
  /** The manifest that this sweep writes, or goes on with. */
  let ours = ""
  const remember = Effect.fnUntraced(function* (file: string) {
    ours = yield* identityOf(files, file)
  })
  yield* Effect.ignore(remember(manifestFile))
  const found = before.includes(MANIFEST_FILE) ? yield* textIn(manifestFile) : undefined
  if (found !== undefined && !resume && !force) {
    const hint = `--resume goes on with it, --force begins anew; or ${ELSEWHERE}`
    return yield* new Refused({ message: `${name}: found a sweep, expected none`, hint })
  }
  if (found !== undefined && resume && !force && found !== wanted) {
    const hint = `${ELSEWHERE}, or --force to begin anew`
    return yield* new Refused({ message: `${name}: holds another sweep: ${differences(found, manifest)}`, hint })
  }
  const others = before.filter((entry) => !UNFINISHED.test(entry))
  if (found === undefined && others.length > 0 && !force) {
    const which = `${others[0]}${others.length > 1 ? ", …" : ""}`
    const message = `${name}: found a folder with other things (${which}), expected none, an empty one or a sweep`
    return yield* new Refused({ message, hint: `${ELSEWHERE}, or --force to write into it all the same` })
  }
  const anew = found === undefined || force
  const whetherOrNot = { force: true }
  const removeRuns = Effect.gen(function* () {
    if (!(yield* files.exists(runs))) return
    for (const entry of yield* files.readDirectory(runs)) {
      if (/^\d+\.json$/.test(entry)) yield* files.remove(path.join(runs, entry), whetherOrNot)
    }
  })
  const done = yield* Effect.gen(function* () {
    yield* makeFolder(files, path, target)
    if (anew) {
      for (const file of [RUNS_FILE, AGGREGATE_FILE]) yield* files.remove(path.join(target, file), whetherOrNot)
      // Runs go before their manifest does: a folder never says of runs that they are of a sweep they are not of.
      yield* removeRuns
      yield* writeWhole(files, path, manifestFile, wanted, remember)
      // What another sweep has kept before it could see that the folder is ours.
      yield* removeRuns
    }
    // After the manifest: without one it would be a folder with other things.
    yield* files.makeDirectory(runs, { recursive: true })
    for (const folder of [target, runs]) {
      for (const entry of yield* files.readDirectory(folder)) {
        if (UNFINISHED.test(entry)) yield* files.remove(path.join(folder, entry), whetherOrNot)
      }
    }
    const kept = new Map<number, RunRecord>()
    if (anew) return kept
    for (const run of plan) {
      const file = runFile(run.index)
      const read = ifThere(files.readFileString(path.join(runs, file)))
      const text = yield* Effect.mapError(read, cannotWrite(`${name}/${RUNS_FOLDER}/${file}`))
      const record = Option.isSome(text) ? recordIn(text.value, run) : undefined
      if (record !== undefined) kept.set(run.index, record)
    }
    return kept
  }).pipe(Effect.mapError(refusedIn(name)))
  /** Two sweeps that begin anew in one folder: it is that of the last. */
  const isOurs = Effect.gen(function* () {
    const now = yield* Effect.option(identityOf(files, manifestFile))
    if (now._tag === "Some" && now.value === ours) return
    const message =
      now._tag === "None"
        ? `${name}/${MANIFEST_FILE} is gone, in the middle of the sweep`
        : `${name}: another sweep has begun in it since`
    return yield* new Refused({ message, hint: `nothing more is written there; ${ELSEWHERE}` })
  })
  const write = (folder: string, shown: string, file: string, text: string) =>
    Effect.mapError(
      writeWhole(files, path, path.join(folder, file), text, () => isOurs),
      refusedIn(shown),
    )
  let isEmpty = anew
  const keep = Effect.fnUntraced(function* (record: RunRecord) {
    // Another sweep may have been about to keep a run as the folder became ours; by now it has ended.
    if (isEmpty) yield* Effect.mapError(Effect.andThen(isOurs, removeRuns), refusedIn(`${name}/${RUNS_FOLDER}`))
    isEmpty = false
    yield* write(runs, `${name}/${RUNS_FOLDER}`, runFile(record.run), `${JSON.stringify(record)}\n`)
  })
  const table = (file: string, text: string) => write(target, name, file, text)
  return { name, done, keep, table } satisfies SweepFolder as SweepFolder
})

const runFile = (index: number): string => `${String(index).padStart(DIGITS, "0")}.json`

const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`

/**
 * A file that is seen when all of it is there, whenever the process ends.
 * @param look at it before it is seen; it is not, when that fails
 */
const writeWhole = Effect.fnUntraced(
  function* <E>(
    files: FileSystem.FileSystem,
    path: Path.Path,
    file: string,
    text: string,
    look: (staged: string) => Effect.Effect<void, E>,
  ) {
    const staged = path.join(path.dirname(file), `.${path.basename(file)}-${process.pid}-unfinished`)
    yield* files.writeFileString(staged, text)
    yield* Effect.tapError(look(staged), () => Effect.ignore(files.remove(staged)))
    yield* files.rename(staged, file)
  },
  // Another sweep that begins in the folder takes away what is not whole: once more tells whether it has begun anew.
  Effect.retry({ times: 1, while: (error) => !(error instanceof Refused) }),
)

/** None where there is nothing of that name; any other failure is one. */
const ifThere = <A>(
  read: Effect.Effect<A, PlatformError.PlatformError>,
): Effect.Effect<Option.Option<A>, PlatformError.PlatformError> =>
  Effect.catch(Effect.asSome(read), (error) =>
    error.reason._tag === "NotFound" ? Effect.succeedNone : Effect.fail(error),
  )

/** The names in a folder; none when there is none. What is no folder is refused. */
const contentOf = Effect.fnUntraced(function* (target: string, name: string) {
  const files = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(ifThere(files.stat(target)), cannotWrite(name))
  if (info._tag === "None") {
    const link = yield* Effect.option(files.readLink(target))
    if (link._tag === "None") return []
    const message = `${name}: found a symbolic link to nothing (${link.value}), expected a folder or nothing`
    return yield* new Refused({ message, hint: ELSEWHERE })
  }
  if (info.value.type !== "Directory") {
    return yield* new Refused({ message: `${name}: found a file, expected a folder or nothing`, hint: ELSEWHERE })
  }
  const entries = yield* Effect.mapError(files.readDirectory(target), cannotWrite(name))
  const path = yield* Path.Path
  for (const [entry, expected] of expectedTypes) {
    if (!entries.includes(entry)) continue
    const found = yield* Effect.mapError(ifThere(files.stat(path.join(target, entry))), cannotWrite(`${name}/${entry}`))
    if (found._tag === "None" || found.value.type === expected) continue
    const kind = expected === "File" ? "file" : "folder"
    return yield* new Refused({ message: `${name}/${entry}: found no ${kind}, expected a ${kind}`, hint: ELSEWHERE })
  }
  return entries.sort()
})

const expectedTypes: ReadonlyArray<readonly [string, "File" | "Directory"]> = [
  [MANIFEST_FILE, "File"],
  [RUNS_FILE, "File"],
  [AGGREGATE_FILE, "File"],
  [RUNS_FOLDER, "Directory"],
]

const textIn = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(files.readFileString(file), () => "")
})

/** The record of a run; undefined where a file holds something else. */
const recordIn = (text: string, run: PlannedRun): RunRecord | undefined => {
  try {
    const record = JSON.parse(text) as RunRecord
    const same = record.run === run.index && record.seed === run.seed && String(record.values) === String(run.values)
    return same ? record : undefined
  } catch {
    return undefined
  }
}

/** What a manifest's text says; undefined where it is none. */
const manifestIn = (text: string): Manifest | undefined => {
  try {
    const found: unknown = JSON.parse(text)
    const isManifest = typeof found === "object" && found !== null && !Array.isArray(found)
    return isManifest ? (found as Manifest) : undefined
  } catch {
    return undefined
  }
}

/** Which file is another; those of older sweeps have no names. */
const differentInput = (found: unknown, wanted: unknown): string => {
  if (typeof found !== "object" || found === null || Array.isArray(found))
    return `${MANIFEST_FILE} is written otherwise`
  const before = new Map<string, unknown>(Object.entries(found))
  const now = new Map<string, unknown>(Object.entries(wanted as object))
  for (const [name, digest] of now) {
    if (before.has(name) && before.get(name) !== digest) return `${name} has changed since the sweep began`
  }
  const name = [...now.keys()].find((name) => !before.has(name))
  if (name !== undefined) return `${name} was not read when the sweep began, and now is`
  const gone = [...before.keys()].find((name) => !now.has(name))
  if (gone !== undefined) return `${gone} was read when the sweep began, and now is not`
  return `${MANIFEST_FILE} is written otherwise`
}

/** In what a folder's sweep is another one than that of the command line. */
const differences = (found: string, manifest: Manifest): string => {
  const other = manifestIn(found)
  if (other === undefined) return `${MANIFEST_FILE} cannot be read`
  const keys = Object.keys(manifest).filter((key) => JSON.stringify(other[key]) !== JSON.stringify(manifest[key]))
  if (keys.length === 0) return `${MANIFEST_FILE} is written otherwise`
  const [key] = keys
  if (key === "inputs") return differentInput(other.inputs, manifest.inputs)
  return `${key}: found ${JSON.stringify(other[key!])}, expected ${JSON.stringify(manifest[key!])}`
}
