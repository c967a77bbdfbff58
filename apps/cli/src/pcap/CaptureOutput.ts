import { closeSync, openSync, writeSync } from "node:fs"
import * as zlib from "node:zlib"
import {
  CaptureError,
  type CaptureInterface,
  type CaptureRecord,
  type CaptureSink,
  PcapngWriter,
  PcapWriter,
} from "@rdmakit/pcap"
import { Effect, Option, Path, type PlatformError } from "effect"
import { cannotBeWritten, Refused } from "../Exit.ts"
import { newerNode } from "../NewerNode.ts"
import { checkOutputFile } from "../OutputFile.ts"
import { Screen, WorkingDirectory } from "../Screen.ts"
import { stagedFile } from "../StagingFolder.ts"
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
  /** What is to go to the standard output since the last call: octets that the screen writes, at its reader's pace. */
  readonly takeOutput: () => Uint8Array
}

type Writer = Pick<CaptureWriter, "record" | "packets"> & { readonly flush: () => void }

const FOR_PCAPNG = "write pcapng: --format pcapng"

/** These commands name what they write last, not by a flag. */
const ELSEWHERE = "name another file"

const formatOf = ({ out, format }: CaptureOutputOptions): CaptureFormat =>
  Option.getOrElse(format, () => (/\.(?:pcap|cap|dmp)(?:\.gz|\.zst)?$/.test(out) ? "pcap" : "pcapng"))

/** The first Node that has Zstandard. */
const ZSTD_SINCE = "22.15"

/** What packs a piece: pieces that are packed one by one are one file to whoever unpacks it. */
const packer = (out: string): ((octets: Uint8Array) => Uint8Array) => {
  if (out.endsWith(".gz")) return (octets) => zlib.gzipSync(octets)
  const zstd = (zlib as Partial<Pick<typeof zlib, "zstdCompressSync">>).zstdCompressSync
  if (!out.endsWith(".zst")) return (octets) => octets
  if (zstd === undefined)
    throw new Refused({
      message: `${out}: this Node has no Zstandard`,
      hint: `end the name in .gz, or ${newerNode(ZSTD_SINCE)}`,
    })
  return (octets) => zstd(octets)
}

/** Both formats behind one call. A section of an input is not one of the output: its interfaces come along. */
const writerOf = (options: CaptureOutputOptions, sink: CaptureSink): Writer =>
  formatOf(options) === "pcapng" ? pcapngWriter(options, sink) : pcapWriter(options, sink)

const pcapngWriter = ({ out, snapLength = 0 }: CaptureOutputOptions, sink: CaptureSink): Writer => {
  let packets = 0
  const writer = new PcapngWriter({}, sink)
  const ids = new WeakMap<CaptureInterface, number>()
  const idOf = (from: CaptureInterface): number => {
    const known = ids.get(from)
    if (known !== undefined) return known
    // The length of a packet without a time follows from the limit of its interface: it is not raised.
    const isLower = snapLength > 0 && (from.snapLength === 0 || snapLength < from.snapLength)
    const id = writer.interface(isLower ? { ...from, snapLength } : from)
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
    const data = snapLength === 0 ? each.data : each.data.subarray(0, snapLength)
    if (each.ticks !== undefined) writer.packet(id, each.ticks, data, each.originalOctets, each.options)
    else if (id === 0) writer.simplePacket(data, each.originalOctets)
    else {
      const message = `${out}: frame ${each.frame} has no time, and pcapng has such packets of its first interface alone`
      throw new Refused({ message, hint: "name its capture first, and no second one of that kind" })
    }
  }
  return { record, packets: () => packets, flush: () => writer.flush() }
}

const resolutions = { microseconds: 1_000_000n, nanoseconds: 1_000_000_000n } as const

const pcapWriter = ({ out, snapLength }: CaptureOutputOptions, sink: CaptureSink): Writer => {
  let packets = 0
  let writer: PcapWriter | undefined
  let first: CaptureInterface | undefined
  let resolution: keyof typeof resolutions = "microseconds"
  const fits = ({ ticksPerSecond }: CaptureInterface): boolean => resolutions[resolution] % ticksPerSecond === 0n
  /** Goes by an interface. Those that come before the first packet, as they do when files are merged, all count. */
  const describe = (from: CaptureInterface): CaptureInterface => {
    first ??= from
    if (writer === undefined && !fits(from)) resolution = "nanoseconds"
    return first
  }
  const open = (from: CaptureInterface): PcapWriter => {
    const { linkType, fcsOctets, snapLength: limit } = describe(from)
    if (linkType !== from.linkType) {
      const message = `${out}: found packets of link types ${linkType} and ${from.linkType}, expected one in a pcap file`
      throw new Refused({ message, hint: FOR_PCAPNG })
    }
    writer ??= new PcapWriter(
      { linkType, resolution, fcsOctets, snapLength: snapLength ?? (limit === 0 ? undefined : limit) },
      sink,
    )
    return writer
  }
  const record = (each: CaptureRecord): void => {
    if (each.kind === "interface") describe(each.interface)
    if (each.kind !== "packet") return
    packets++
    const { frame, timeNs, ticks, interface: from } = each
    const refuse = (what: string): Refused =>
      new Refused({ message: `${out}: frame ${frame} has ${what}, and pcap has no room for that`, hint: FOR_PCAPNG })
    if (timeNs === undefined || ticks === undefined) throw refuse("no time")
    const to = open(from)
    if (!fits(from) && (ticks * resolutions[resolution]) % from.ticksPerSecond !== 0n) {
      throw refuse(`a time finer than the ${resolution} of those before it`)
    }
    to.packet(timeNs, each.data, each.originalOctets)
  }
  const flush = (): void => {
    if (writer === undefined && first !== undefined) open(first)
    writer?.flush()
  }
  return { record, packets: () => packets, flush }
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
    if (out === STDIN) return yield* fill(options, undefined, pack, write)
    yield* checkOutputFile({ out: Option.some(out), force, inputs, elsewhere: ELSEWHERE })
    const target = (yield* Path.Path).resolve(yield* WorkingDirectory, out)
    const refused = (error: PlatformError.PlatformError) => cannotBeWritten(out, ELSEWHERE, error)
    const staged = yield* Effect.mapError(stagedFile(target), refused)
    const result = yield* Effect.acquireUseRelease(
      Effect.sync(() => openSync(staged.path, "w", 0o644)),
      (descriptor) => fill(options, descriptor, pack, write),
      (descriptor) => Effect.sync(() => closeSync(descriptor)),
    )
    yield* Effect.mapError(staged.publish, refused)
    return result
  }).pipe(Effect.scoped)

/** Without a descriptor, to the standard output. */
const fill = <A, E, R>(
  options: CaptureOutputOptions,
  descriptor: number | undefined,
  pack: (octets: Uint8Array) => Uint8Array,
  write: (writer: CaptureWriter) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const { out } = yield* Screen
    let pieces: Array<Uint8Array> = []
    const writer = writerOf(options, (octets) => {
      const packed = pack(octets)
      if (descriptor === undefined) pieces.push(packed)
      else for (let at = 0; at < packed.length; ) at += writeSync(descriptor, packed, at)
    })
    const takeOutput = (): Uint8Array => {
      if (pieces.length === 0) return NOTHING
      const octets = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      pieces = []
      return octets
    }
    const result = yield* write({ record: writer.record, packets: writer.packets, takeOutput })
    yield* attempt(options, () => writer.flush())
    yield* out.write(takeOutput())
    return result
  })

const NOTHING = new Uint8Array(0)

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
  if (error instanceof Error && "syscall" in error && error.syscall === "write") {
    return Effect.fail(cannotBeWritten(out, ELSEWHERE, error))
  }
  return Effect.die(error)
}
