import { Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import { cannotBeWritten, Refused } from "./Exit.ts"
import { Screen, WorkingDirectory } from "./Screen.ts"
import { stagedFile } from "./StagingFolder.ts"

export interface OutputFileOptions {
  /** Where to write; none: standard output. */
  readonly out: Option.Option<string>
  /** Replace a file that is there. */
  readonly force: boolean
  /** Files that were read for it, as the user names them: none of them is replaced. */
  readonly inputs: ReadonlyArray<string>
  /** What to do where this place cannot be: by default, how `--out` names another. */
  readonly elsewhere?: string
}

const FILE_MODE = 0o644
const ELSEWHERE = "choose another with --out FILE"

/** Refuses a place that cannot or must not be written to, before anything is made for it. */
export const checkOutputFile = Effect.fnUntraced(function* (options: OutputFileOptions) {
  const { out, force, inputs, elsewhere = ELSEWHERE } = options
  if (Option.isNone(out)) return
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const cwd = yield* WorkingDirectory
  const name = out.value
  const target = path.resolve(cwd, name)
  if (inputs.some((input) => path.resolve(cwd, input) === target)) {
    return yield* new Refused({ message: `${name}: would replace an input`, hint: elsewhere })
  }
  const info = yield* Effect.option(files.stat(target))
  if (Option.isNone(info)) return yield* checkFolderOf(name, elsewhere, target)
  if (info.value.type !== "File") {
    const found = info.value.type === "Directory" ? "a folder" : "no regular file"
    return yield* new Refused({ message: `${name}: found ${found}, expected a file or nothing`, hint: elsewhere })
  }
  if (!force) {
    const hint = `${elsewhere}, or --force to replace it`
    return yield* new Refused({ message: `${name}: found a file, expected nothing`, hint })
  }
})

/** Refuses a file that would lie in a file, or in a folder that nothing can be put into. */
const checkFolderOf = Effect.fnUntraced(function* (name: string, elsewhere: string, target: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // The nearest folder that is there: those below it are made when there is something to put there.
  let folder = path.dirname(target)
  while (!(yield* Effect.orElseSucceed(files.exists(folder), () => false)) && folder !== path.dirname(folder))
    folder = path.dirname(folder)
  const check = Effect.gen(function* () {
    yield* files.readDirectory(folder)
    yield* files.access(folder, { writable: true })
  })
  yield* Effect.mapError(check, (error) => cannotBeWritten(name, elsewhere, error))
})

const encoder = new TextEncoder()

/** Writes a text, in pieces, to a file: an absolute path. */
export const writePieces = Effect.fnUntraced(function* (
  files: FileSystem.FileSystem,
  file: string,
  pieces: Iterable<string>,
) {
  const opened = yield* files.open(file, { flag: "w" })
  for (const piece of pieces) yield* opened.writeAll(encoder.encode(piece))
}, Effect.scoped)

/** Tells a file from any other that has its name after it: both are there for a moment, the new one staged. */
export const identityOf = (files: FileSystem.FileSystem, file: string) =>
  Effect.map(files.stat(file), ({ dev, ino, mtime }) =>
    [dev, Option.getOrNull(ino), Option.getOrNull(mtime)?.getTime()].join(" "),
  )

/** Makes a folder and those above it, one by one: Node's own recursion does not end where nothing can be made. */
export const makeFolder = (
  files: FileSystem.FileSystem,
  path: Path.Path,
  folder: string,
): Effect.Effect<void, PlatformError.PlatformError> =>
  Effect.gen(function* () {
    if (yield* files.exists(folder)) return
    yield* makeFolder(files, path, path.dirname(folder))
    // Another may have made it meanwhile.
    yield* Effect.catch(files.makeDirectory(folder), (error) =>
      Effect.flatMap(files.exists(folder), (isThere) => (isThere ? Effect.void : Effect.fail(error))),
    )
  })

/**
 * Writes a text, in pieces, to a file that is seen when all of it is there. Without a file, to the screen.
 */
export const writeOutputFile = (pieces: Iterable<string>, options: OutputFileOptions) =>
  Effect.gen(function* () {
    yield* checkOutputFile(options)
    if (Option.isNone(options.out)) {
      const { out } = yield* Screen
      for (const piece of pieces) yield* out.write(piece)
      return
    }
    const name = options.out.value
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const target = path.resolve(yield* WorkingDirectory, name)
    const folder = path.dirname(target)
    yield* Effect.gen(function* () {
      yield* makeFolder(files, path, folder)
      const staged = yield* stagedFile(target)
      yield* writePieces(files, staged.path, pieces)
      yield* files.chmod(staged.path, FILE_MODE)
      yield* staged.publish
    }).pipe(Effect.mapError((error) => cannotBeWritten(name, ELSEWHERE, error)))
  }).pipe(Effect.scoped)
