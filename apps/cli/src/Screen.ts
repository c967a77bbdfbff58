import { Context, Effect } from "effect"
import { shown } from "./Shown.ts"

/** One side of the screen: where text goes, and whether somebody watches. */
export interface Surface {
  /**
   * Writes text or octets, and waits while the reader is slower than we are. After the reader has gone it does nothing.
   * Of a text what commands a terminal is escaped; octets are written as they are.
   */
  readonly write: (piece: string | Uint8Array) => Effect.Effect<void>
  readonly isTerminal: boolean
  /** Whether colours are wanted: a terminal, and no NO_COLOR. */
  readonly color: boolean
  /** Characters in a line; infinite where it is no terminal. */
  readonly columns: number
}

/** Where a command writes: results to `out`, everything about them to `err`. */
export class Screen extends Context.Service<
  Screen,
  {
    readonly out: Surface
    readonly err: Surface
    /** Whether the reader of `out` has gone, as `head` does when it has enough: more output is for nobody. */
    readonly readerGone: () => boolean
  }
>()("@rdmakit/cli/Screen") {}

/** A surface that shows texts and obeys nothing in them, over one that writes whatever it is given. */
export const showing = (surface: Surface): Surface => ({
  ...surface,
  write: (piece) => surface.write(typeof piece === "string" ? shown(piece) : piece),
})

/** Writes a line of the result. */
export const print = (text: string): Effect.Effect<void, never, Screen> =>
  Screen.use(({ out }) => out.write(`${text}\n`))

/** Lines that are written at a time. */
const PIECE_LINES = 1024

/** Writes lines of the result, however many, at their reader's pace. */
export const printLines = Effect.fnUntraced(function* (lines: Iterable<string>) {
  const { out, readerGone } = yield* Screen
  let piece: Array<string> = []
  for (const line of lines) {
    if (piece.push(line) < PIECE_LINES) continue
    yield* out.write(`${piece.join("\n")}\n`)
    if (readerGone()) return
    piece = []
  }
  if (piece.length > 0) yield* out.write(`${piece.join("\n")}\n`)
})

/** Writes a line about the result. */
export const tell = (text: string): Effect.Effect<void, never, Screen> =>
  Screen.use(({ err }) => err.write(`${text}\n`))

/** The relative paths of a command line start here. */
export const WorkingDirectory: Context.Reference<string> = Context.Reference("@rdmakit/cli/WorkingDirectory", {
  defaultValue: () => process.cwd(),
})
