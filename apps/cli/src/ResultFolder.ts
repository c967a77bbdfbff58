import { FLOWS_FILE, SUMMARY_FILE } from "@rdmakit/scenario"
import { Effect, FileSystem, Path, type PlatformError, type Scope } from "effect"
import { cannotBeWritten, Refused } from "./Exit.ts"
import { identityOf, makeFolder } from "./OutputFile.ts"
import { WorkingDirectory } from "./Screen.ts"
import { stagingFolder } from "./StagingFolder.ts"
import { STDIN } from "./StandardInput.ts"
import { systemCode } from "./SystemWords.ts"

/** The folder that a run writes to: nothing of it is seen before `publish`. */
export interface ResultFolder {
  /** As the user would write it. */
  readonly name: string
  /** Where to write until then; absolute. */
  readonly staging: string
  /** Shows what was written under the folder's own name, all of it at once. */
  readonly publish: Effect.Effect<void, PlatformError.PlatformError | Refused>
}

export interface ResultFolderOptions {
  /** Write into a folder that holds something other than a result of the same input. */
  readonly force: boolean
  /** What is run: a result of another input is not replaced. */
  readonly input: string
  /** Names of the files that will be written. Default: those that every run has. */
  readonly outputs?: ReadonlyArray<string>
}

/** The folder of a run without --out: `mix/config.txt` writes to `config.results`, in the working directory. */
export const defaultFolder = (path: Path.Path, file: string): string =>
  `${file === STDIN ? "stdin" : path.parse(file).name}.results`

/**
 * Makes room for the results of a run. A folder that exists has to be empty or a result of before, which the new one
 * replaces file by file; what else lies in it stays. Without `publish` everything written is gone when the scope
 * closes.
 */
export const openResultFolder = (
  name: string,
  { force, input, outputs = [SUMMARY_FILE, FLOWS_FILE] }: ResultFolderOptions,
): Effect.Effect<
  ResultFolder,
  Refused | PlatformError.PlatformError,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const target = path.resolve(yield* WorkingDirectory, name)
    const before = yield* contentOf(target)
    if (before === "file") {
      return yield* new Refused({ message: `${name}: found a file, expected a folder or nothing`, hint: ELSEWHERE })
    }
    if (before === undefined) {
      const link = yield* Effect.option(files.readLink(target))
      if (link._tag === "Some") {
        const message = `${name}: found a symbolic link to nothing (${link.value}), expected a folder or nothing`
        return yield* new Refused({ message, hint: ELSEWHERE })
      }
    }
    for (const output of outputs) {
      if (before?.includes(output) !== true) continue
      const { type } = yield* files.stat(path.join(target, output)).pipe(
        // A link to nothing: the output takes its place.
        Effect.orElseSucceed(() => ({ type: "File" as const })),
      )
      if (type === "File") continue
      const found = type === "Directory" ? "a folder" : "no regular file"
      return yield* new Refused({ message: `${name}/${output}: found ${found}, expected a file`, hint: ELSEWHERE })
    }
    const isResult = before?.includes(SUMMARY_FILE) === true || before?.includes(FLOWS_FILE) === true
    if (before !== undefined && before.length > 0 && !isResult && !force) {
      return yield* new Refused({
        message: `${name}: found a folder with other things (${before[0]}${before.length > 1 ? ", …" : ""}), expected none, an empty one or a result`,
        hint: `${ELSEWHERE}, or --force to write into it all the same`,
      })
    }
    const other = isResult && !force ? yield* inputOf(files, path.join(target, SUMMARY_FILE)) : undefined
    if (other !== undefined && other !== input) {
      return yield* new Refused({
        message: `${name}: holds the results of ${other}, expected none or those of ${input}`,
        hint: `${ELSEWHERE}, or --force to replace them`,
      })
    }
    const parent = before === undefined ? path.dirname(target) : target
    const staging = yield* makeFolder(files, path, parent).pipe(
      Effect.andThen(stagingFolder(parent, path.basename(target))),
      Effect.mapError((error) => cannotBeWritten(name, ELSEWHERE, error)),
    )
    const summary = path.join(target, SUMMARY_FILE)
    const seen = yield* seenAs(files, summary)
    const isAsSeen = Effect.gen(function* () {
      if ((yield* seenAs(files, summary)) !== seen) return yield* writtenMeanwhile(name)
    })
    const publish =
      before === undefined
        ? publishNew(files, staging, target)
        : Effect.andThen(isAsSeen, publishInto(files, path, staging, target))
    return { name, staging, publish: Effect.mapError(publish, otherMeanwhile(name, before)) }
  })

const ELSEWHERE = "choose another with --out DIR"

const writtenMeanwhile = (name: string): Refused =>
  new Refused({
    message: `${name}: another run has written there meanwhile, and this one's results are given up`,
    hint: "run it again, one after the other, or each with an --out of its own",
  })

/** Which file there is by a name; "" for none. */
const seenAs = (files: FileSystem.FileSystem, file: string): Effect.Effect<string> =>
  Effect.orElseSucceed(identityOf(files, file), () => "")

/** What stands where nothing stood, or has gone that was there: another run's. @param before what was there */
const otherMeanwhile =
  (name: string, before: ReadonlyArray<string> | undefined) =>
  (error: PlatformError.PlatformError | Refused): PlatformError.PlatformError | Refused => {
    const code = systemCode(error) ?? ""
    const isOther = before === undefined ? /^(ENOTEMPTY|EEXIST|ENOTDIR)$/.test(code) : code === "ENOENT"
    return isOther ? writtenMeanwhile(name) : error
  }

/** The names in a folder, "file" for what is none, undefined when there is nothing. */
const contentOf = Effect.fnUntraced(function* (target: string) {
  const files = yield* FileSystem.FileSystem
  const info = yield* Effect.option(files.stat(target))
  if (info._tag === "None") return undefined
  if (info.value.type !== "Directory") return "file" as const
  return (yield* files.readDirectory(target)).sort()
})

const publishNew = (files: FileSystem.FileSystem, staging: string, target: string) =>
  // Temporary folders are private; results are as any other folder of the user.
  Effect.andThen(files.chmod(staging, FOLDER_MODE), files.rename(staging, target))

const FOLDER_MODE = 0o755

/** The summary goes first and comes last: a folder without one was not finished. */
const publishInto = Effect.fnUntraced(function* (
  files: FileSystem.FileSystem,
  path: Path.Path,
  staging: string,
  target: string,
) {
  const stale = yield* Effect.orElseSucceed(namedInSummary(files, path.join(target, SUMMARY_FILE)), () => [])
  for (const name of [SUMMARY_FILE, ...stale]) yield* files.remove(path.join(target, name), { force: true })
  const fresh = yield* files.readDirectory(staging)
  for (const name of fresh.sort((a, b) => Number(a === SUMMARY_FILE) - Number(b === SUMMARY_FILE))) {
    yield* files.rename(path.join(staging, name), path.join(target, name))
  }
})

/** The input that a summary names; undefined when it cannot be read. */
const inputOf = Effect.fnUntraced(
  function* (files: FileSystem.FileSystem, summary: string) {
    const { input } = JSON.parse(yield* files.readFileString(summary)) as { readonly input?: unknown }
    return typeof input === "string" ? input : undefined
  },
  Effect.catchDefect(() => Effect.succeed(undefined)),
  Effect.orElseSucceed(() => undefined),
)

/** The files that a summary says were written with it: plain names only, whatever it says. */
const namedInSummary = Effect.fnUntraced(
  function* (files: FileSystem.FileSystem, summary: string) {
    const { files: named } = JSON.parse(yield* files.readFileString(summary)) as { readonly files?: unknown }
    if (typeof named !== "object" || named === null) return []
    return Object.values(named).filter((name): name is string => typeof name === "string" && /^[^/\\]+$/.test(name))
  },
  Effect.catchDefect(() => Effect.succeed([])),
)
