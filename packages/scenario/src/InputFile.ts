import { type Ns3Fault, Ns3FormatError } from "@rdmakit/ns3"
import { Effect, FileSystem, Path, type PlatformError } from "effect"

/** A file that was found. */
export interface FoundFile {
  /** The path to show: as the user would write it from the working directory. */
  readonly name: string
  /** Absolute. */
  readonly path: string
}

/** A file that was read. */
export interface InputFile {
  /** As in {@link FoundFile}. */
  readonly name: string
  readonly octets: Uint8Array
}

/** Where a file that another one names may lie: the first of these folders that has it. */
export interface SearchPath {
  /** Relative paths start here; absolute. */
  readonly workingDirectory: string
  /** Folders to look in, relative ones from the working directory, in order. */
  readonly folders: ReadonlyArray<string>
}

/** Where a path was written, and as what: the fault of a missing file stands there. */
export type Mention = Pick<Ns3Fault, "file" | "line" | "column" | "field">

/** The folders for the files that a config names: the working directory, the config's folder, its parent. */
export const searchPathOf = (path: Path.Path, workingDirectory: string, config: string): SearchPath => {
  const folder = path.dirname(config)
  return { workingDirectory, folders: [".", folder, path.join(folder, "..")] }
}

/** Finds the first file of that name on the search path; what is no regular file is no file. */
export const findInput = (
  name: string,
  search: SearchPath,
  mention: Mention,
): Effect.Effect<FoundFile, Ns3FormatError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    const files = yield* FileSystem.FileSystem
    const candidates = path.isAbsolute(name) ? [name] : search.folders.map((folder) => path.join(folder, name))
    const missing: Array<string> = []
    for (const candidate of new Set(candidates)) {
      const absolute = path.resolve(search.workingDirectory, candidate)
      const problem = yield* files.stat(absolute).pipe(
        Effect.map(({ type }) => problemOfType(type)),
        Effect.catch((error) => Effect.succeed(problemOf(error))),
      )
      if (problem === undefined) return { name: candidate, path: absolute }
      if (problem !== MISSING) return yield* Effect.fail(unreadable(mention, name, problem))
      missing.push(candidate)
    }
    const hint = missing.length === 1 ? MISSING : `none of these exists: ${missing.join(", ")}`
    return yield* Effect.fail(new Ns3FormatError({ ...mention, found: name, expected: "a file", hint }))
  })

/** Reads the file that {@link findInput} finds. */
export const readInput = (
  name: string,
  search: SearchPath,
  mention: Mention,
): Effect.Effect<InputFile, Ns3FormatError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const found = yield* findInput(name, search, mention)
    const octets = yield* Effect.mapError(files.readFile(found.path), (error) =>
      unreadable(mention, name, problemOf(error)),
    )
    return { name: found.name, octets }
  })

/** A FIFO may wait for ever for its writer, and a device may have no end. */
const problemOfType = (type: FileSystem.File.Type): string | undefined => {
  if (type === "File") return undefined
  if (type === "Directory") return "it is a folder"
  const kind = type === "FIFO" ? "a FIFO" : type === "Socket" ? "a socket" : "a device"
  return `it is ${kind}, no regular file`
}

const MISSING = "it does not exist"

const unreadable = (mention: Mention, found: string, hint: string): Ns3FormatError =>
  new Ns3FormatError({ ...mention, found, expected: "a file that can be read", hint })

const problemOf = (error: PlatformError.PlatformError): string => {
  if (error.reason._tag === "PermissionDenied") return "reading it is not permitted"
  const { cause } = error.reason
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : error.reason._tag
  // A component of the path that is a file means that there is no such file.
  if (error.reason._tag === "NotFound" || code === "ENOTDIR") return MISSING
  if (code === "ENAMETOOLONG") return "its name is too long"
  if (code === "ELOOP") return "its symbolic links lead back to themselves"
  return `it cannot be read: the system says ${code}`
}
