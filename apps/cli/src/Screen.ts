import { Context, type Effect } from "effect"

/** One side of the screen: where text goes, and whether somebody watches. */
export interface Surface {
  /**
   * Writes text or octets, and waits while the reader is slower than we are. After the reader has gone it does nothing.
   */
  readonly write: (piece: string | Uint8Array) => Effect.Effect<void>
  readonly isTerminal: boolean
  /** Whether colours are wanted: a terminal, and no NO_COLOR. */
  readonly color: boolean
}

/** Where a command writes: results to `out`, everything about them to `err`. */
export class Screen extends Context.Service<
  Screen,
  {
    readonly out: Surface
    readonly err: Surface
    /** Characters in a line. */
    readonly columns: number
    /** Whether the reader of `out` has gone, as `head` does when it has enough: more output is for nobody. */
    readonly readerGone: () => boolean
  }
>()("@rdmakit/cli/Screen") {}

/** Writes a line of the result. */
export const print = (text: string): Effect.Effect<void, never, Screen> =>
  Screen.use(({ out }) => out.write(`${text}\n`))

/** Writes a line about the result. */
export const tell = (text: string): Effect.Effect<void, never, Screen> =>
  Screen.use(({ err }) => err.write(`${text}\n`))

/** The relative paths of a command line start here. */
export const WorkingDirectory: Context.Reference<string> = Context.Reference("@rdmakit/cli/WorkingDirectory", {
  defaultValue: () => process.cwd(),
})
