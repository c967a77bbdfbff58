import { writeSync } from "node:fs"
import { Socket } from "node:net"
import type { Writable } from "node:stream"
import { Effect, Layer } from "effect"
import { exitCodes } from "./Exit.ts"
import { Screen, type Surface, showing } from "./Screen.ts"
import { systemWords } from "./SystemWords.ts"

/** Of a terminal that does not know its width. */
const COLUMNS = 120
const NOT_WHOLE = "what is written of it is not whole: make room, or write elsewhere (--out, where the command has it)"

interface Stream extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly fd?: number
}

/** The standard streams of this process. */
export const processScreen: Layer.Layer<Screen> = Layer.sync(Screen, () => {
  const out = surfaceOf(process.stdout)
  const err = surfaceOf(process.stderr)
  return { out: out.surface, err: err.surface, readerGone: out.gone }
})

const surfaceOf = (stream: Stream): { readonly surface: Surface; readonly gone: () => boolean } => {
  let gone = false
  // A reader that leaves is no fault of ours: EPIPE ends the output, not the command. Other failures cost the result.
  const failed = (error: NodeJS.ErrnoException): void => {
    if (gone) return
    gone = true
    if (error.code === "EPIPE" || stream !== process.stdout) return
    process.exitCode = exitCodes.refused
    process.stderr.write(`error: the output cannot be written: ${systemWords(error)}\n${NOT_WHOLE}\n`)
  }
  stream.on("error", failed)
  const file = fileOf(stream)
  const write = (piece: string | Uint8Array): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const done = () => resume(Effect.void)
      if (gone || stream.destroyed) return done()
      if (file !== undefined) {
        try {
          writeAll(file, piece)
        } catch (error) {
          failed(error as NodeJS.ErrnoException)
        }
        return done()
      }
      if (stream.write(piece)) return done()
      const settle = () => {
        stream.off("drain", settle)
        stream.off("close", settle)
        stream.off("error", settle)
        done()
      }
      stream.on("drain", settle)
      stream.on("close", settle)
      stream.on("error", settle)
      return Effect.sync(settle)
    })
  const isTerminal = stream.isTTY === true
  // A terminal that does not know its width says 0.
  const columns = isTerminal ? stream.columns || COLUMNS : Number.POSITIVE_INFINITY
  const surface = showing({ write, isTerminal, color: isTerminal && wantsColor(), columns })
  return { surface, gone: () => gone || stream.destroyed }
}

/** The descriptor of a stream that is a file or a device; undefined for pipes, sockets and terminals. */
const fileOf = (stream: Stream): number | undefined => (stream instanceof Socket ? undefined : stream.fd)

/** Node's own stream takes a write to a file for done when the disk took only its beginning. */
const writeAll = (file: number, piece: string | Uint8Array): void => {
  const octets = typeof piece === "string" ? Buffer.from(piece) : piece
  for (let at = 0; at < octets.length; ) at += writeSync(file, octets, at)
}

const wantsColor = (): boolean => {
  const { NO_COLOR, TERM } = process.env
  return (NO_COLOR === undefined || NO_COLOR === "") && TERM !== "dumb"
}
