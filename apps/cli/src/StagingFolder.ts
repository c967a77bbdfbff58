import { rmSync } from "node:fs"
import { Effect, FileSystem, Path, type PlatformError, type Scope } from "effect"

/** What takes each folder away that is there. */
const leaving = new Set<() => void>()

/** Takes every folder away, with what is in it: for a process that ends without its `exit`. */
export const leaveStaging = (): void => {
  for (const leave of leaving) leave()
}

/**
 * Makes a folder beside what is to be written, on the same file system, so that renaming is all that publishing takes.
 * It is gone when the scope closes, with everything in it that was not moved away; also when the process ends at once,
 * as a controller's module or a second Ctrl-C ends it: then no scope is left.
 *
 * @param parent the folder to make it in
 * @param name what will be published, as its name has it
 */
export const stagingFolder = (
  parent: string,
  name: string,
): Effect.Effect<string, PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { folder } = yield* Effect.acquireRelease(
      Effect.gen(function* () {
        const folder = yield* files.makeTempDirectory({ directory: parent, prefix: `.${name}-unfinished-` })
        const leave = () => rmSync(folder, { recursive: true, force: true })
        process.once("exit", leave)
        leaving.add(leave)
        return { folder, leave }
      }),
      ({ folder, leave }) =>
        Effect.andThen(
          Effect.sync(() => {
            process.off("exit", leave)
            leaving.delete(leave)
          }),
          Effect.ignore(files.remove(folder, { recursive: true, force: true })),
        ),
    )
    return folder
  })

/** A file that takes its name when all of it is there. */
export interface StagedFile {
  /** Where to write until then; absolute. */
  readonly path: string
  /** Gives it its name, in place of what has it. */
  readonly publish: Effect.Effect<void, PlatformError.PlatformError>
}

/** Makes room for a file beside `target`, an absolute path; without `publish` it is gone when the scope closes. */
export const stagedFile = (
  target: string,
): Effect.Effect<StagedFile, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const name = path.basename(target)
    const staged = path.join(yield* stagingFolder(path.dirname(target), name), name)
    return { path: staged, publish: files.rename(staged, target) }
  })
