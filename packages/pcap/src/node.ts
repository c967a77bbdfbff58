import { closeSync, openSync, writeSync } from "node:fs"
import { open, readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { Transform } from "node:stream"
import * as zlib from "node:zlib"
import { CaptureError } from "./CaptureError.ts"
import { chainCaptures, type MergedRecord } from "./Merge.ts"
import type { CaptureSink } from "./Output.ts"
import { CaptureReader, type CaptureReaderOptions, readCapture } from "./Reader.ts"
import { type CaptureRecord, compareTimes, type PacketRecord } from "./Record.ts"
import { rotatedSet } from "./Rotation.ts"
import { ZstdFrames } from "./ZstdFrame.ts"

const CHUNK_OCTETS = 1024 * 1024
/** Compressed octets grow, so they are taken in smaller steps. */
const PACKED_CHUNK_OCTETS = 65536

export interface CaptureFileOptions extends Pick<CaptureReaderOptions, "maxRecordOctets"> {
  /** Called with the octets read of the file as it lies on the disk, and its size where it has one. */
  readonly onProgress?: ((octets: number, ofOctets: number | undefined) => void) | undefined
  /** Of {@link visitCapture}: awaited whenever the records of a piece of the file were visited. */
  readonly afterPiece?: (() => Promise<void>) | undefined
  /** What "-" stands for; the standard input of the process by default. */
  readonly standardInput?: AsyncIterable<Uint8Array> | undefined
}

/** Opens a capture, "-" for the standard input: its records in order. gzip and Zstandard are unpacked on the way. */
export const openCapture = (
  path: string,
  options: CaptureFileOptions = {},
): AsyncGenerator<CaptureRecord, void, undefined> =>
  readCapture(captureOctets(path, options), { file: path, maxRecordOctets: options.maxRecordOctets })

/**
 * Calls `visit` for each record of a capture; the fastest way through a large one. The memory that a record shows is
 * used again afterwards: copy what is kept.
 */
export const visitCapture = async (
  path: string,
  visit: (record: CaptureRecord) => void,
  options: CaptureFileOptions = {},
): Promise<void> => {
  const reader = new CaptureReader({ file: path, maxRecordOctets: options.maxRecordOctets, reuseMemory: true })
  const drain = (): void => {
    for (let record = reader.next(); record !== undefined; record = reader.next()) visit(record)
  }
  for await (const octets of unpacked(path, options, true)) {
    reader.push(octets)
    drain()
    if (options.afterPiece !== undefined) await options.afterPiece()
  }
  reader.end()
  drain()
}

/** The octets of a capture file, unpacked when they are gzip or Zstandard, in chunks that are the caller's to keep. */
export const captureOctets = (
  path: string,
  options: CaptureFileOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> => unpacked(path, options, false)

/** The files of the rotated set that `path` is one of, in the order of their names. */
export const rotatedFiles = async (path: string): Promise<ReadonlyArray<string>> => {
  const folder = dirname(path)
  return rotatedSet(basename(path), await readdir(folder)).map((name) => join(folder, name))
}

/**
 * Opens the files of a rotated set as one capture, ordered by the time of the first packet in each: a ring that
 * wrapped round is right then too. Files without a packet come where the list has them, after the file before them.
 */
export async function* openRotated(
  paths: ReadonlyArray<string>,
  options: CaptureFileOptions = {},
): AsyncGenerator<MergedRecord & { readonly path: string }, void, undefined> {
  const firsts: Array<{ readonly path: string; readonly first: PacketRecord | undefined }> = []
  for (const path of paths) {
    const before = firsts.at(-1)?.first
    firsts.push({ path, first: (await firstPacket(path, options)) ?? before })
  }
  firsts.sort(({ first: a }, { first: b }) =>
    a === undefined || b === undefined ? Number(a !== undefined) - Number(b !== undefined) : compareTimes(a, b),
  )
  const captures = firsts.map(({ path }) => openCapture(path, options))
  for await (const each of chainCaptures(captures)) yield { ...each, path: firsts[each.source]!.path }
}

const firstPacket = async (path: string, options: CaptureFileOptions): Promise<PacketRecord | undefined> => {
  for await (const record of openCapture(path, { maxRecordOctets: options.maxRecordOctets })) {
    if (record.kind === "packet") return record
  }
  return undefined
}

/** A file that takes what a writer hands on, "-" for the standard output. Call `close` after the writer's `flush`. */
export const captureSink = (path: string): CaptureSink & { readonly close: () => void } => {
  const descriptor = path === "-" ? 1 : openSync(path, "w")
  const write = (octets: Uint8Array): void => {
    for (let at = 0; at < octets.length; ) at += writeSync(descriptor, octets, at)
  }
  return Object.assign(write, { close: () => (path === "-" ? undefined : closeSync(descriptor)) })
}

async function* unpacked(
  path: string,
  options: CaptureFileOptions,
  reuse: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = path === "-" ? standardInput(options) : fileOctets(path, options, reuse)
  try {
    let head: Uint8Array = new Uint8Array(0)
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      // A pipe may give fewer octets than the four that tell what it carries.
      head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
      if (head.length < 4) {
        if (reuse) head = head.slice()
        continue
      }
      const packing = packingOf(path, head)
      if (packing !== undefined) {
        yield* pump(path, packing, preceded(head, chunks))
        return
      }
      yield head
      head = new Uint8Array(0)
      for await (const octets of chunks) yield octets
    }
    if (head.length > 0) yield head
  } finally {
    await chunks.return()
  }
}

async function* preceded(
  head: Uint8Array,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield head
  yield* chunks
}

async function* standardInput(options: CaptureFileOptions): AsyncGenerator<Uint8Array, void, undefined> {
  let octets = 0
  const input: AsyncIterable<unknown> = options.standardInput ?? process.stdin
  for await (const chunk of input) {
    octets += (chunk as Uint8Array).length
    yield chunk as Uint8Array
    options.onProgress?.(octets, undefined)
  }
}

async function* fileOctets(
  path: string,
  options: CaptureFileOptions,
  reuse: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path, "r")
  try {
    const status = await file.stat()
    const size = status.isFile() ? status.size : undefined
    const chunkOctets = size === undefined ? CHUNK_OCTETS : Math.min(CHUNK_OCTETS, Math.max(size, 4096))
    let buffer = new Uint8Array(chunkOctets)
    let octets = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      octets += bytesRead
      yield buffer.subarray(0, bytesRead)
      options.onProgress?.(octets, size)
      if (!reuse) buffer = new Uint8Array(chunkOctets)
    }
  } finally {
    await file.close()
  }
}

interface Packing {
  readonly unpacker: () => Transform
  /** The compressed octets in pieces, of which one that is `last` ends what one unpacker can do. */
  readonly pieces: (path: string, chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Piece>
}

interface Piece {
  readonly octets: Uint8Array
  readonly isLast: boolean
}

/** How octets that begin so are compressed; undefined when they are not. */
const packingOf = (path: string, [a, b, c, d]: Uint8Array): Packing | undefined => {
  if (a === 0x1f && b === 0x8b) {
    return { unpacker: () => zlib.createGunzip({ chunkSize: CHUNK_OCTETS }), pieces: gzipPieces }
  }
  const isZstd = a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd
  // A skippable frame may stand before the first (RFC 8878 §3.1.2).
  const isSkippable = (a! & 0xf0) === 0x50 && b === 0x2a && c === 0x4d && d === 0x18
  if (!isZstd && !isSkippable) return undefined
  // The function is younger than the oldest Node this package runs on.
  const create = (zlib as Partial<Pick<typeof zlib, "createZstdDecompress">>).createZstdDecompress
  if (create === undefined) throw compression(path, 0, "Zstandard", "a Node that unpacks it: 22.15, 23.8 or later")
  return { unpacker: () => create({ chunkSize: CHUNK_OCTETS }), pieces: zstdPieces }
}

async function* gzipPieces(_path: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece, void, undefined> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PACKED_CHUNK_OCTETS) {
      yield { octets: chunk.subarray(at, at + PACKED_CHUNK_OCTETS), isLast: false }
    }
  }
}

async function* zstdPieces(path: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece, void, undefined> {
  const frames = new ZstdFrames()
  // The octets of a frame that tell it from one to be skipped may come apart.
  let held: Uint8Array = new Uint8Array(0)
  for await (const chunk of gzipPieces(path, chunks)) {
    for (let at = 0; at < chunk.octets.length; ) {
      const end = frames.advance(chunk.octets, at)
      if (end < 0) throw compression(path, 0, "other octets behind a Zstandard frame", "another frame or the end")
      const part = chunk.octets.subarray(at, end)
      at = end
      if (frames.isPacked)
        yield { octets: held.length === 0 ? part : Buffer.concat([held, part]), isLast: frames.isBetween }
      held = frames.isPacked || frames.isBetween ? new Uint8Array(0) : Buffer.concat([held, part]).subarray(0, 4)
    }
  }
  if (!frames.isBetween && !frames.isPacked) throw cut(path, 0)
}

/**
 * Sends octets through what unpacks them. All that was unpacked is handed on before a stream learns that its input
 * ended: a file that was cut short gives everything it has, and then the error.
 */
async function* pump(
  path: string,
  packing: Packing,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let unpacking: Unpacking | undefined
  try {
    for await (const { octets, isLast } of packing.pieces(path, chunks)) {
      unpacking ??= new Unpacking(path, packing.unpacker())
      yield* unpacking.write(octets)
      if (!isLast) continue
      yield* unpacking.end()
      unpacking = undefined
    }
    if (unpacking !== undefined) yield* unpacking.end()
  } finally {
    unpacking?.destroy()
  }
}

/** One stream that unpacks, read as fast as it gives and no faster than it is asked. */
class Unpacking {
  readonly #path: string
  readonly #stream: Transform
  #failure: (Error & { readonly code?: string }) | undefined
  #ended = false
  #octets = 0
  #wake = (): void => {}

  constructor(path: string, stream: Transform) {
    this.#path = path
    this.#stream = stream
    stream.on("readable", () => this.#wake())
    stream.on("error", (error) => {
      this.#failure = error
      this.#wake()
    })
    stream.on("end", () => {
      this.#ended = true
      this.#wake()
    })
  }

  async *write(octets: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
    let taken = false
    this.#stream.write(octets, () => {
      taken = true
      this.#wake()
    })
    yield* this.#given(() => taken)
    if (this.#failure !== undefined) throw damaged(this.#path, this.#octets, this.#failure)
  }

  async *end(): AsyncGenerator<Uint8Array, void, undefined> {
    this.#stream.end()
    yield* this.#given(() => false)
    const failure = this.#failure
    if (failure === undefined) return
    // Nearly always the input has no end.
    const isCut = failure.code === "Z_BUF_ERROR" || failure.message.includes("unexpected end")
    throw isCut ? cut(this.#path, this.#octets) : damaged(this.#path, this.#octets, failure)
  }

  destroy(): void {
    this.#stream.destroy()
  }

  /** What comes out until the stream ends or fails, or `isDone`. */
  async *#given(isDone: () => boolean): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const out: Uint8Array | null = this.#stream.read()
      if (out !== null) {
        this.#octets += out.length
        yield out
      } else if (this.#failure !== undefined || this.#ended || isDone()) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}

const damaged = (path: string, offset: number, failure: Error): CaptureError =>
  compression(path, offset, failure.message, "intact octets")

const compression = (file: string, offset: number, found: string, expected: string): CaptureError =>
  new CaptureError({ reason: "compression", file, offset, record: 0, field: "compression", found, expected })

const cut = (file: string, offset: number): CaptureError => {
  const field = "end of the compressed file"
  const found = "an unfinished stream"
  const hint = "the file was cut short, or is still being written"
  return new CaptureError({ reason: "truncated", file, offset, record: 0, field, found, expected: "its end", hint })
}
