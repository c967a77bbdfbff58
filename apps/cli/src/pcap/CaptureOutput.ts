import { closeSync, openSync, writeSync } from "node:fs"
import * as zlib from "node:zlib"
import { gzipSync } from "node:zlib"
import {
  CaptureError,
  type CaptureInterface,
  type CaptureRecord,
  type CaptureSink,
  PcapngWriter,
  PcapWriter,
} from "@rdmakit/pcap"
import { Effect, FileSystem, Option, Path } from "effect"
import { cannotBeWritten, Refused } from "../Exit.ts"
import { checkOutputFile } from "../OutputFile.ts"
import { WorkingDirectory } from "../Screen.ts"
import { STDIN } from "../StandardInput.ts"

export type CaptureFormat = "pcap" | "pcapng"

export interface CaptureOutputOptions {
  readonly out: string
  /** By default what the name says, and pcapng where it says nothing. */
  readonly format: Option.Option<CaptureFormat>
  readonly force: boolean
  readonly inputs: ReadonlyArray<string>
  /** Octets kept of each packet; undefined: all. */
  readonly snapLength: number | undefined
}

/** Takes records and writes them as a capture. */
export interface CaptureWriter {
  readonly record: (record: CaptureRecord) => void
  readonly packets: () => number
}

/** These commands name what they write last, not by a flag. */
const ELSEWHERE = "name another file"

const formatOf = ({ out, format }: CaptureOutputOptions): CaptureFormat =>
  Option.getOrElse(format, () => (/\.(?:pcap|cap|dmp)(?:\.gz|\.zst)?$/.test(out) ? "pcap" : "pcapng"))

/** What packs a piece: pieces that are packed one by one are one file to whoever unpacks it. */
const packer = (out: string): ((octets: Uint8Array) => Uint8Array) => {
  if (out.endsWith(".gz")) return (octets) => gzipSync(octets)
  const zstd = (zlib as Partial<Pick<typeof zlib, "zstdCompressSync">>).zstdCompressSync
  if (!out.endsWith(".zst")) return (octets) => octets
  if (zstd === undefined)
    throw new Refused({ message: `${out}: this Node has no Zstandard`, hint: "end the name in .gz" })
  return (octets) => zstd(octets)
}

/** Both formats behind one call. A section of an input is not one of the output: its interfaces come along. */
const writerOf = (options: CaptureOutputOptions, sink: CaptureSink): CaptureWriter & { readonly flush: () => void } => {
  const { snapLength } = options
  let packets = 0
  if (formatOf(options) === "pcapng") {
    const writer = new PcapngWriter({}, sink)
    const ids = new Map<CaptureInterface, number>()
    const idOf = (from: CaptureInterface): number => {
      const known = ids.get(from)
      if (known !== undefined) return known
      const id = writer.interface(snapLength === undefined ? from : { ...from, snapLength })
      ids.set(from, id)
      return id
    }
    const record = (each: CaptureRecord): void => {
      if (each.kind === "interface") idOf(each.interface)
      else if (each.kind === "names") writer.names(each.entries, each.options)
      else if (each.kind === "secrets") writer.secrets(each.secretsType, each.data, each.options)
      else if (each.kind === "statistics") writer.statistics(idOf(each.interface), each.ticks, each.options)
      else if (each.kind === "custom" && each.copyable) writer.custom(each.enterprise, true, each.data)
      if (each.kind !== "packet") return
      packets++
      const id = idOf(each.interface)
      const data = snapLength === undefined ? each.data : each.data.subarray(0, snapLength)
      if (each.ticks !== undefined) writer.packet(id, each.ticks, data, each.originalOctets, each.options)
      else writer.simplePacket(data, each.originalOctets)
    }
    return { record, packets: () => packets, flush: () => writer.flush() }
  }
  let writer: PcapWriter | undefined
  let linkType: number | undefined
  const open = (from: CaptureInterface): PcapWriter => {
    if (linkType !== undefined && linkType !== from.linkType) {
      const message = `${options.out}: found packets of link types ${linkType} and ${from.linkType}, expected one in a pcap file`
      throw new Refused({ message, hint: "write pcapng: --format pcapng" })
    }
    linkType = from.linkType
    const micro = from.ticksPerSecond <= 1_000_000n
    writer ??= new PcapWriter(
      {
        linkType: from.linkType,
        resolution: micro ? "microseconds" : "nanoseconds",
        fcsOctets: from.fcsOctets,
        ...(snapLength === undefined ? { snapLength: from.snapLength || undefined } : { snapLength }),
      },
      sink,
    )
    return writer
  }
  const record = (each: CaptureRecord): void => {
    if (each.kind === "interface" && writer === undefined) open(each.interface)
    if (each.kind !== "packet") return
    packets++
    if (each.timeNs === undefined) {
      throw new Refused({
        message: `${options.out}: frame ${each.frame} has no time, and pcap has no room for that`,
        hint: "write pcapng: --format pcapng",
      })
    }
    open(each.interface).packet(each.timeNs, each.data, each.originalOctets)
  }
  return { record, packets: () => packets, flush: () => writer?.flush() }
}

/**
 * Lets `write` fill a capture file, which is seen when all of it is there; "-" is the standard output.
 */
export const writeCapture = <A, E, R>(
  options: CaptureOutputOptions,
  write: (writer: CaptureWriter) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const { out, force, inputs } = options
    const pack = yield* attempt(options, () => packer(out))
    if (out === STDIN) return yield* fill(options, 1, pack, write)
    yield* checkOutputFile({ out: Option.some(out), force, inputs, elsewhere: ELSEWHERE })
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const target = path.resolve(yield* WorkingDirectory, out)
    const staging = yield* Effect.acquireRelease(
      files
        .makeTempDirectory({ directory: path.dirname(target), prefix: `.${path.basename(target)}-unfinished-` })
        .pipe(Effect.mapError((error) => cannotBeWritten(out, ELSEWHERE, error))),
      (made) => Effect.ignore(files.remove(made, { recursive: true, force: true })),
    )
    const staged = path.join(staging, path.basename(target))
    const result = yield* Effect.acquireUseRelease(
      Effect.sync(() => openSync(staged, "w", 0o644)),
      (descriptor) => fill(options, descriptor, pack, write),
      (descriptor) => Effect.sync(() => closeSync(descriptor)),
    )
    yield* Effect.mapError(files.rename(staged, target), (error) => cannotBeWritten(out, ELSEWHERE, error))
    return result
  }).pipe(Effect.scoped)

const fill = <A, E, R>(
  options: CaptureOutputOptions,
  descriptor: number,
  pack: (octets: Uint8Array) => Uint8Array,
  write: (writer: CaptureWriter) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const writer = writerOf(options, (octets) => {
      const packed = pack(octets)
      for (let at = 0; at < packed.length; ) at += writeSync(descriptor, packed, at)
    })
    const result = yield* write(writer)
    yield* attempt(options, () => writer.flush())
    return result
  })

/** What a writer throws is a refusal: the format has no room for something. */
const attempt = <A>({ out }: CaptureOutputOptions, act: () => A): Effect.Effect<A, Refused> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(act())
    } catch (error) {
      return refusalOf(error, out)
    }
  })

/** The refusal in what was thrown, or a bug. */
export const refusalOf = (error: unknown, out: string): Effect.Effect<never, Refused> => {
  if (error instanceof Refused) return Effect.fail(error)
  if (error instanceof CaptureError && error.reason === "unwritable") {
    return Effect.fail(new Refused({ message: error.message.replace(/^capture@\d+/, out) }))
  }
  return Effect.die(error)
}
