import { type Ns3Fault, Ns3FormatError } from "@rdmakit/ns3"
import { Effect, FileSystem, Path, type PlatformError } from "effect"

/** A file that was read. */
export interface InputFile {
  /** The path to show: as the user would write it from the working directory. */
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

/** The folders for the files that a config names: the working directory, the config's folder, its parent. */
export const searchPathOf = (path: Path.Path, workingDirectory: string, config: string): SearchPath => {
  const folder = path.dirname(config)
  return { workingDirectory, folders: [".", folder, path.join(folder, "..")] }
}

/**
 * Reads the first file of that name on the search path. `mention` is where the name was written: the fault of a
 * missing file stands there.
 */
export const readInput = Effect.fnUntraced(function* (name: string, search: SearchPath, mention: Mention) {
  const path = yield* Path.Path
  const candidates = path.isAbsolute(name) ? [name] : search.folders.map((folder) => path.join(folder, name))
  const missing: Array<string> = []
  for (const candidate of new Set(candidates)) {
    const found = yield* readCandidate(path.resolve(search.workingDirectory, candidate))
    if (typeof found !== "string") return { name: candidate, octets: found } satisfies InputFile
    if (found !== "") return yield* Effect.fail(faultAt(mention, name, "a file that can be read", found))
    missing.push(candidate)
  }
  const looked = missing.length === 1 ? "it does not exist" : `none of these exists: ${missing.join(", ")}`
  return yield* Effect.fail(faultAt(mention, name, "a file", looked))
})

/** Where a path was written, and as what. */
export type Mention = Pick<Ns3Fault, "file" | "line" | "column" | "field">

const faultAt = (mention: Mention, found: string, expected: string, hint: string): Ns3FormatError =>
  new Ns3FormatError({ ...mention, found, expected, hint })

/** The octets of a file, "" when there is none, or why it cannot be read. */
const readCandidate = (file: string): Effect.Effect<Uint8Array | string, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { type } = yield* files.stat(file)
    if (type === "Directory") return "it is a folder"
    return yield* files.readFile(file)
  }).pipe(Effect.catchTag("PlatformError", (error) => Effect.succeed(unreadable(error))))

const unreadable = ({ reason }: PlatformError.PlatformError): string => {
  switch (reason._tag) {
    case "NotFound":
      return ""
    case "PermissionDenied":
      return "reading it is not permitted"
    default:
      // A component of the path that is a file means that there is no such file.
      return /ENOTDIR/.test(reason.message) ? "" : `it cannot be read: ${reason.message}`
  }
}
