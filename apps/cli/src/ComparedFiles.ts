import { FLOWS_FILE, findInput, SUMMARY_FILE } from "@rdmakit/scenario"
import { Effect, FileSystem, Path } from "effect"
import { Refused } from "./Exit.ts"
import { refused } from "./Reading.ts"
import { WorkingDirectory } from "./Screen.ts"
import { readStandardInput, STDIN, STDIN_NAME } from "./StandardInput.ts"

/** What can be compared, by what it holds. */
export type ComparedKind = "fct" | "trace" | "pfc" | "qlen"

/** A file to compare: on disk, or already read. */
export interface ComparedFile {
  readonly name: string
  readonly path: string
  readonly octets: Uint8Array | undefined
}

/** Files of the same kind, one of either side. */
export interface ComparedPair {
  readonly kind: ComparedKind
  readonly a: ComparedFile
  readonly b: ComparedFile
}

/** The candidates of one side, by kind. */
interface Side {
  readonly name: string
  readonly isFolder: boolean
  readonly files: ReadonlyMap<ComparedKind, ReadonlyArray<ComparedFile>>
}

/** What a run's output is called when its config says nothing else, or what it usually has in its name. */
const patterns: ReadonlyArray<readonly [ComparedKind, RegExp]> = [
  ["trace", /\.tr$/i],
  ["fct", /fct(?!.*\.(?:csv|gz|pdf|png|py|svg)$)/i],
  ["pfc", /pfc(?!.*\.(?:csv|gz|pdf|png|py|svg)$)/i],
  ["qlen", /qlen(?!.*\.(?:csv|gz|pdf|png|py|svg)$)/i],
]
const SNIFFED_OCTETS = 4096

/**
 * Finds what two arguments of `compare` have in common: files of one kind, or in folders one file of each kind. A
 * folder with several files of a kind gives the one that is called like the other side's.
 */
export const pairFiles = Effect.fnUntraced(function* (a: string, b: string) {
  if (a === STDIN && b === STDIN) {
    return yield* new Refused({ message: "both sides are standard input", hint: "name a file on one side" })
  }
  const sideA = yield* sideOf(a)
  const sideB = yield* sideOf(b)
  const pairs: Array<ComparedPair> = []
  for (const [kind] of patterns) {
    const pair = pairOf(kind, sideA, sideB)
    if (pair !== undefined) pairs.push(pair)
  }
  const areFolders = sideA.isFolder && sideB.isFolder
  const compared = areFolders ? pairs.some(({ kind }) => kind === "fct" || kind === "trace") : pairs.length > 0
  if (!compared) return yield* nothingInCommon(sideA, sideB)
  return pairs
})

/** What the summary beside a file says of the run that wrote it; undefined where none says so. */
export const runOf = Effect.fnUntraced(
  function* (file: ComparedFile) {
    if (file.octets !== undefined) return undefined
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const summary = path.join(path.dirname(file.path), SUMMARY_FILE)
    // A FIFO would be waited for.
    if ((yield* files.stat(summary)).type !== "File") return undefined
    const said = JSON.parse(yield* files.readFileString(summary)) as {
      readonly transport: unknown
      readonly partial: unknown
      readonly files: object
    }
    const isOfIt = Object.values(said.files).includes(path.basename(file.path))
    if (!isOfIt || typeof said.transport !== "string") return undefined
    return { transport: said.transport, isPartial: said.partial === true }
  },
  Effect.catchDefect(() => Effect.succeed(undefined)),
  Effect.orElseSucceed(() => undefined),
)

const pairOf = (kind: ComparedKind, sideA: Side, sideB: Side): ComparedPair | undefined => {
  const filesA = sideA.files.get(kind) ?? []
  const filesB = sideB.files.get(kind) ?? []
  if (filesA.length === 1 && filesB.length === 1) return { kind, a: filesA[0]!, b: filesB[0]! }
  const matches = filesA.flatMap((a) =>
    filesB.filter((b) => baseName(a.name) === baseName(b.name)).map((b): ComparedPair => ({ kind, a, b })),
  )
  return matches.length === 1 ? matches[0] : undefined
}

const nothingInCommon = (a: Side, b: Side): Refused => {
  for (const side of [a, b]) {
    const fcts = side.files.get("fct") ?? []
    if (side.isFolder && fcts.length > 1) {
      const names = fcts.map(({ name }) => name).join(", ")
      return new Refused({
        message: `${side.name}: found ${fcts.length} files of completion times, expected one`,
        hint: `name the one that is meant: ${names}`,
      })
    }
    if (side.isFolder && fcts.length === 0 && (side.files.get("trace") ?? []).length === 0) {
      return new Refused({
        message: `${side.name}: found neither completion times nor a trace, expected a folder with results`,
        hint: `a folder needs one file with fct in its name, ${FLOWS_FILE}, or one that ends in .tr; a sweep's folder holds runs, which its runs.csv has side by side`,
      })
    }
  }
  return new Refused({
    message: `${a.name} and ${b.name} have nothing in common: ${contentOf(a)} against ${contentOf(b)}`,
    hint: "compare completion times with completion times, or a trace with a trace",
  })
}

const contentOf = (side: Side): string => {
  const words = { fct: "completion times", trace: "a trace", pfc: "PFC events", qlen: "queue lengths" }
  return Array.from(side.files.keys(), (kind) => words[kind]).join(" and ")
}

const sideOf = Effect.fnUntraced(function* (argument: string) {
  if (argument === STDIN) {
    const octets = yield* readStandardInput
    return fileSide({ name: STDIN_NAME, path: "", octets }, isBinary(octets) ? "trace" : "fct")
  }
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const workingDirectory = yield* WorkingDirectory
  const absolute = path.resolve(workingDirectory, argument)
  const isFolder = yield* files.stat(absolute).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false),
  )
  if (isFolder) return yield* folderSide(argument, absolute)
  const mention = { file: argument, line: 0, column: 0, field: "result" }
  const found = yield* findInput(argument, { workingDirectory, folders: ["."] }, mention).pipe(
    Effect.mapError((fault) => refused(fault)),
  )
  const head = yield* headOf(found.path)
  if (head[0] === 0x1f && head[1] === 0x8b) {
    return yield* new Refused({
      message: `${argument}: found a gzipped file, expected one that is not`,
      hint: `gunzip -c ${argument} | rdmakit compare - OTHER`,
    })
  }
  const named = patterns.find(([, pattern]) => pattern.test(path.basename(found.path)))?.[0]
  const kind = named === "trace" || isBinary(head) ? "trace" : (named ?? "fct")
  return fileSide({ name: argument, path: found.path, octets: undefined }, kind)
})

const fileSide = (file: ComparedFile, kind: ComparedKind): Side => ({
  name: file.name,
  isFolder: false,
  files: new Map([[kind, [file]]]),
})

const folderSide = Effect.fnUntraced(function* (name: string, absolute: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = new Map<ComparedKind, Array<ComparedFile>>()
  for (const entry of (yield* files.readDirectory(absolute)).sort()) {
    const kind = patterns.find(([, pattern]) => pattern.test(entry))?.[0]
    if (kind === undefined) continue
    // A FIFO would be waited for.
    const isFile = yield* files.stat(path.join(absolute, entry)).pipe(
      Effect.map(({ type }) => type === "File"),
      Effect.orElseSucceed(() => false),
    )
    if (!isFile) continue
    const list = found.get(kind) ?? []
    list.push({ name: path.join(name, entry), path: path.join(absolute, entry), octets: undefined })
    found.set(kind, list)
  }
  // A scenario's completion times are in its table of flows alone.
  if (!found.has("fct")) {
    const file = path.join(absolute, FLOWS_FILE)
    const type = yield* Effect.option(files.stat(file))
    if (type._tag === "Some" && type.value.type === "File") {
      found.set("fct", [{ name: path.join(name, FLOWS_FILE), path: file, octets: undefined }])
    }
  }
  return { name, isFolder: true, files: found } satisfies Side
})

const headOf = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const opened = yield* files.open(file)
  const head = new Uint8Array(SNIFFED_OCTETS)
  return head.subarray(0, Number(yield* opened.read(head)))
}, Effect.scoped)

/** Text has no zero octets; the first four of a trace, the number of ports, nearly always have some. */
const isBinary = (octets: Uint8Array): boolean => octets.subarray(0, SNIFFED_OCTETS).includes(0)

const baseName = (name: string): string => name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1)
