import { Data, type PlatformError } from "effect"

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

/** The ends of the file system that users meet, in words; the others as they are. */
const ends: Readonly<Record<string, string>> = {
  PermissionDenied: "permission denied",
  NotFound: "there is no such folder, and none can be made",
}

/** The refusal of a place that results cannot be written to. The file system's own words have the names of staging folders. */
export const cannotBeWritten = (name: string, hint: string, { reason }: PlatformError.PlatformError): Refused =>
  new Refused({ message: `${name}: cannot be written to: ${ends[reason._tag] ?? reason.message}`, hint })
