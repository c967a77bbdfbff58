/** What a sweep reads, file by file: every run is to read what the sweep began with. */
import { createHash } from "node:crypto"
import { Effect, type FileSystem, type Path } from "effect"

/** SHA-256 by file. */
export type Digests = ReadonlyMap<string, string>

/** Names files from the working directory; those that lie outside of it by their whole path when the input is. */
export const fileNames =
  (path: Path.Path, workingDirectory: string, input: string) =>
  (file: string): string => {
    const name = path.relative(workingDirectory, file)
    return name.startsWith("..") && path.isAbsolute(input) ? file : name
  }

/** A file system that remembers what was read of it. @param begun what was read before, elsewhere */
export const watchReads = (files: FileSystem.FileSystem, nameOf: (file: string) => string, begun: Digests) => {
  const read = new Map<string, string>()
  const changed = new Set<string>()
  const watched: FileSystem.FileSystem = {
    ...files,
    readFile: (file) =>
      Effect.tap(files.readFile(file), (octets) =>
        Effect.sync(() => {
          const name = nameOf(file)
          const digest = createHash("sha256").update(octets).digest("hex")
          const before = read.get(name) ?? begun.get(name)
          if (before !== undefined && before !== digest) changed.add(name)
          read.set(name, digest)
        }),
      ),
  }
  /** `changed`: what is not what it was at an earlier reading. */
  return { files: watched, read, changed }
}

/** Files as a manifest or a record has them, in the order of their names. */
export const digestsJson = (digests: Iterable<readonly [string, string]>): Readonly<Record<string, string>> =>
  Object.fromEntries([...digests].sort(([a], [b]) => (a < b ? -1 : 1)))

/** A run read something else than the sweep began with. */
export class InputChanged extends Error {
  constructor(file: string) {
    super(`${file} has changed since the sweep began`)
  }
}
