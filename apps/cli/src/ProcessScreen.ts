import type { Writable } from "node:stream"
import { Effect, Layer } from "effect"
import { exitCodes } from "./Exit.ts"
import { Screen, type Surface } from "./Screen.ts"
import { systemWords } from "./SystemWords.ts"

/** Lines for readers that are no terminal. */
const COLUMNS_ELSEWHERE = 120

interface Stream extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** The standard streams of this process. */
export const processScreen: Layer.Layer<Screen> = Layer.sync(Screen, () => {
  const out = surfaceOf(process.stdout)
  const err = surfaceOf(process.stderr)
  // A terminal that does not know its width says 0.
  const columns = (process.stdout as Stream).columns || (process.stderr as Stream).columns || COLUMNS_ELSEWHERE
  return { out: out.surface, err: err.surface, columns, readerGone: out.gone }
})

const surfaceOf = (stream: Stream): { readonly surface: Surface; readonly gone: () => boolean } => {
  let gone = false
  // A reader that leaves is no fault of ours: EPIPE ends the output, not the command. Other failures cost the result.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    gone = true
    if (error.code === "EPIPE" || stream !== process.stdout) return
    process.exitCode = exitCodes.notWell
    process.stderr.write(`error: the output cannot be written: ${systemWords(error)}\n`)
  })
  const write = (piece: string | Uint8Array): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const done = () => resume(Effect.void)
      if (gone || stream.destroyed) return done()
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
  return { surface: { write, isTerminal, color: isTerminal && wantsColor() }, gone: () => gone || stream.destroyed }
}

const wantsColor = (): boolean => {
  const { NO_COLOR, TERM } = process.env
  return (NO_COLOR === undefined || NO_COLOR === "") && TERM !== "dumb"
}
