import { Data } from "effect"

/** What the shell is told. */
export const exitCodes = {
  fine: 0,
  /** It ran, but not all is well: flows unfinished, files that differ. */
  notWell: 1,
  /** The command line or its inputs were refused; nothing was written. */
  refused: 2,
  /** A mistake of ours. */
  bug: 70,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const

/** The end of a command that has said all it had to say. */
export class Exit extends Data.TaggedError("Exit")<{ readonly code: number }> {}

/** A command line that cannot be carried out, in words of its own. */
export class Refused extends Data.TaggedError("Refused")<{ readonly message: string; readonly hint?: string }> {}
