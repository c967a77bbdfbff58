import { Clock, FilterError, type Observer, PacketFilter } from "@rdmakit/analysis"
import { CaptureError, type CaptureRecord, mergeCaptures, type PacketRecord } from "@rdmakit/pcap"
import { openCapture, rotatedFiles, visitCapture } from "@rdmakit/pcap/node"
import { Effect, FileSystem, Option, Path, Stdio, Stream } from "effect"
import { Refused } from "../Exit.ts"
import { percent, quantity, short } from "../Figures.ts"
import { Screen, WorkingDirectory } from "../Screen.ts"
import { STDIN, STDIN_NAME } from "../StandardInput.ts"
import { StatusLine, timeLeft } from "../StatusLine.ts"
import { systemCode, systemWords } from "../SystemWords.ts"

/** The flags that say which packets count. */
export interface SelectionInput {
  readonly filter: ReadonlyArray<string>
  readonly time: Option.Option<string>
  readonly qp: Option.Option<string>
  readonly address: Option.Option<string>
}

/** The terms of all the flags. */
const termsOf = ({ filter, time, qp, address }: SelectionInput): ReadonlyArray<string> => [
  ...filter,
  ...Option.toArray(time).map((value) => `time=${value}`),
  ...Option.toArray(qp).map((value) => `qp=${value}`),
  ...Option.toArray(address).map((value) => `address=${value}`),
]

/** The filter of a command line; a wrong one is refused. */
export const filterOf = (
  input: SelectionInput,
  seen: Pick<Observer, "addresses" | "clock">,
  aside = false,
): Effect.Effect<PacketFilter, Refused> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(new PacketFilter(termsOf(input), seen, aside))
    } catch (error) {
      if (error instanceof FilterError) return Effect.fail(new Refused({ message: error.message }))
      throw error
    }
  })

/** A file that was read: all of it, or as far as it went. */
export interface Visited {
  readonly name: string
  readonly packets: number
  /** Why it ended early: it was cut short, or is damaged there. */
  readonly fault: string | undefined
  readonly startNs: bigint | undefined
}

export const nameOf = (file: string): string => (file === STDIN ? STDIN_NAME : file)

/** The file that a name on the command line stands for; what is no file is refused. */
const pathOf = Effect.fnUntraced(function* (file: string) {
  if (file === STDIN) return STDIN
  const files = yield* FileSystem.FileSystem
  const path = (yield* Path.Path).resolve(yield* WorkingDirectory, file)
  const info = yield* Effect.mapError(files.stat(path), (error) => {
    const isMissing = ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")
    return refusedFile(file, isMissing ? "it does not exist" : systemWords(error))
  })
  if (info.type === "Directory") return yield* refusedFile(file, "it is a folder")
  return path
})

const refusedFile = (file: string, why: string): Refused =>
  new Refused({ message: `${file}: found "${file}", expected a capture; ${why}` })

/** The refusal of a file that the system does not read; undefined where something else went wrong. */
const unreadable = (file: string, error: unknown): Refused | undefined => {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined
  if (code === "EACCES" || code === "EPERM") return refusedFile(file, "permission denied")
  if (code === "EIO" || code === "EISDIR" || code === "ENXIO") return refusedFile(file, "it cannot be read")
  return undefined
}

/** The reader of our output has gone, or has enough: nothing is wrong. */
class Enough extends Error {}

/** Ends the visit that calls it. */
export const enough = (): never => {
  throw new Enough()
}

export interface VisitOptions {
  /** Text or octets to be written whenever a piece of the file was read. */
  readonly text?: (() => string | Uint8Array) | undefined
}

/** Writes what there is to be written, at its reader's pace; ends the visit when the reader has gone. */
const writerOf = (text: VisitOptions["text"]) =>
  Effect.map(Screen, ({ out, readerGone }) => async (): Promise<void> => {
    const piece = text?.() ?? ""
    if (piece.length > 0) await Effect.runPromise(out.write(piece))
    if (readerGone()) enough()
  })

/**
 * Calls `visit` for each record of a capture, telling how far it has come. A file that ends early or is damaged after
 * some packets is what it was up to there; one that cannot be read at all is refused.
 */
export const visitFile = Effect.fnUntraced(function* (
  file: string,
  visit: (record: CaptureRecord) => void,
  { text }: VisitOptions = {},
) {
  const { err } = yield* Screen
  const write = yield* writerOf(text)
  const { stdin } = yield* Stdio.Stdio
  const path = yield* pathOf(file)
  const name = nameOf(file)
  const line = new StatusLine(err, () => performance.now())
  const startMs = performance.now()
  const clock = new Clock()
  let packets = 0
  const take = (record: CaptureRecord): void => {
    if (record.kind === "packet") {
      packets++
      if (packets === 1) clock.read(record)
    }
    visit(record)
  }
  const read = Effect.tryPromise({
    try: async (signal) => {
      await visitCapture(path, take, {
        standardInput: Stream.toAsyncIterable(stdin),
        afterPiece: async () => {
          if (signal.aborted) enough()
          await write()
        },
        onProgress: (octets, of) =>
          Effect.runFork(line.update((nowMs) => progressText(name, packets, octets, of, nowMs - startMs))),
      })
      await write()
    },
    catch: (error) => error,
  })
  const done = (fault: string | undefined): Visited => ({ name, packets, fault, startNs: clock.startNs })
  return yield* read.pipe(
    Effect.map(() => done(undefined)),
    Effect.catch((error) => {
      if (error instanceof Enough) return Effect.succeed(done(undefined))
      if (error instanceof CaptureError) {
        const message = error.message.replace(`${path}@`, `${name}@`)
        if (packets > 0) return Effect.as(Effect.promise(write).pipe(Effect.ignoreCause), done(message))
        return Effect.fail(new Refused({ message }))
      }
      const refused = unreadable(file, error)
      return refused === undefined ? Effect.die(error) : Effect.fail(refused)
    }),
    Effect.ensuring(line.clear),
  )
})

const progressText = (
  name: string,
  packets: number,
  octets: number,
  of: number | undefined,
  elapsedMs: number,
): string => {
  const share = of === undefined || of === 0 ? undefined : octets / of
  return [
    share === undefined ? quantity(octets, "B") : percent(octets, of!),
    `${short(packets)} packets`,
    quantity((octets / Math.max(1, elapsedMs)) * 1000, "B/s"),
    ...(share === undefined ? [] : timeLeft(share, elapsedMs)),
    name,
  ].join("  ")
}

/** The packets of a capture that pass a filter, each with what was observed. */
export const packetVisitor =
  (
    observer: Observer,
    filter: PacketFilter,
    visit: (packet: PacketRecord, sighting: ReturnType<Observer["observe"]>) => void,
  ) =>
  (record: CaptureRecord): void => {
    if (record.kind !== "packet") return
    const sighting = observer.observe(record)
    if (filter.passes(sighting)) visit(record, sighting)
  }

/** The files that are meant, each of a rotated set when all of it is. */
const expandRotated = Effect.fnUntraced(function* (files: ReadonlyArray<string>, rotated: boolean) {
  if (files.indexOf(STDIN) !== files.lastIndexOf(STDIN)) {
    return yield* new Refused({ message: `${STDIN}: found twice, expected once: there is one standard input` })
  }
  const paths: Array<string> = []
  for (const file of files) {
    const path = yield* pathOf(file)
    if (rotated && path !== STDIN) paths.push(...(yield* Effect.promise(() => rotatedFiles(path))))
    else paths.push(path)
  }
  return paths
})

/** The records of several captures by time. One that ends early ends alone, and is told of in `faults`. */
const mergedRecords = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  rotated: boolean,
  faults: Array<string>,
) {
  const { stdin } = yield* Stdio.Stdio
  const paths = yield* expandRotated(files, rotated)
  const workingDirectory = yield* WorkingDirectory
  async function* tolerant(path: string) {
    let packets = 0
    try {
      for await (const record of openCapture(path, { standardInput: Stream.toAsyncIterable(stdin) })) {
        if (record.kind === "packet") packets++
        yield record
      }
    } catch (error) {
      const name = path.replace(`${workingDirectory}/`, "")
      if (!(error instanceof CaptureError)) throw unreadable(name, error) ?? error
      const message = error.message.replace(path, name).replace(`${STDIN}@`, `${STDIN_NAME}@`)
      if (packets === 0) throw new Refused({ message })
      faults.push(message)
    }
  }
  return mergeCaptures(paths.map(tolerant))
})

/** Records between two looks at the clock, the reader and the signal to stop. */
const RECORDS_A_TURN = 256

/** As `visitFile`, of several captures in the order of time: how many packets there were, and why some ended early. */
export const visitMerged = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  rotated: boolean,
  visit: (record: CaptureRecord) => void,
  { text }: VisitOptions = {},
) {
  const { err } = yield* Screen
  const write = yield* writerOf(text)
  const faults: Array<string> = []
  const records = yield* mergedRecords(files, rotated, faults)
  const line = new StatusLine(err, () => performance.now())
  let packets = 0
  let turn = 0
  yield* Effect.tryPromise({
    try: async (signal) => {
      for await (const { record } of records) {
        if (record.kind === "packet") packets++
        visit(record)
        if (++turn % RECORDS_A_TURN !== 0) continue
        if (signal.aborted) enough()
        await write()
        await Effect.runPromise(line.update(() => `${short(packets)} packets`))
      }
      await write()
    },
    catch: (error) => error,
  }).pipe(
    Effect.catch((error) => {
      if (error instanceof Enough) return Effect.void
      return error instanceof Refused ? Effect.fail(error) : Effect.die(error)
    }),
    Effect.ensuring(line.clear),
  )
  return { packets, faults }
})

/** Packets of all captures are numbered through. */
type FrameVisitor = (packet: PacketRecord, frame: number) => void

/** Calls `visit` for the packets of one capture, or of several as if they were one, in the order of time. */
export const visitFiles = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  rotated: boolean,
  visit: FrameVisitor,
) {
  if (files.length === 1 && !rotated) {
    return yield* visitFile(files[0]!, (record) => {
      if (record.kind === "packet") visit(record, record.frame)
    })
  }
  let frame = 0
  const { packets, faults } = yield* visitMerged(files, rotated, (record) => {
    if (record.kind === "packet") visit(record, ++frame)
  })
  const fault = faults.length === 0 ? undefined : faults.join("; ")
  const name = files.map(nameOf).join(" ")
  return { name, packets, fault, startNs: undefined } satisfies Visited
})
