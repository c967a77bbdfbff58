import { Data } from "effect"
import { systemCode, systemWords } from "./SystemWords.ts"

/** What the shell is told. */
export const exitCodes = {
  fine: 0,
  /** It ran, but not all is well: flows unfinished, files that differ. */
  notWell: 1,
  /** The command line or its inputs were refused; nothing was written, or nothing whole. */
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

/** The refusal of a place that results cannot be written to. @param error of the file system */
export const cannotBeWritten = (name: string, hint: string, error: unknown): Refused => {
  const why = systemCode(error) === "ENOENT" ? "there is no folder for it" : systemWords(error)
  return new Refused({ message: `${name}: cannot be written to: ${why}`, hint })
}
