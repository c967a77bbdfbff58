import type { Completion } from "@rdmakit/protocol"
import { type CqOverrun, type QueuePair, statusName, VerbsError, WorkFailed, type WorkLost } from "@rdmakit/verbs"
import { Data, Effect } from "effect"
import type { FormatError } from "./outofband/FormatError.ts"
import type { OutOfBandError } from "./outofband/OutOfBand.ts"

/** Nothing has come for long: over UC and UD what is lost is not sent again. */
export class PeerSilent extends Data.TaggedError("PeerSilent")<{
  /** What was waited for, in the plural. */
  readonly waitedFor: "messages" | "writes" | "completions"
  /** How many of them came, and how many were to come. */
  readonly came: number
  readonly wanted: number
  /** Since the last. */
  readonly seconds: number
  /** What loses them, and what helps. */
  readonly doThis?: string | undefined
}> {
  override get message(): string {
    const { waitedFor, came, wanted, seconds } = this
    return `${came} of ${wanted} ${waitedFor} came, then none for ${seconds} s`
  }
}

/** Octets came that were not sent. */
export class WrongOctets extends Data.TaggedError("WrongOctets")<{
  /** Of the message, from 0. */
  readonly number: number
  /** Where in it, from 0. */
  readonly offset: number
  readonly found: number
  readonly expected: string
  /** What a network does to make it so. */
  readonly doThis?: string | undefined
}> {
  override get message(): string {
    const { number, offset, found, expected } = this
    return `message ${number}, octet ${offset}: found 0x${found.toString(16)}, expected ${expected}`
  }
}

/** Why a program of this package has not come to its end. */
export type ProgramError =
  | VerbsError
  | WorkFailed
  | WorkLost
  | CqOverrun
  | OutOfBandError
  | FormatError
  | PeerSilent
  | WrongOctets

/** A completion without success, as an error, with what its queue pair knows of the cause. */
export const workFailed = (
  operation: string,
  completion: Completion,
  queuePairs: ReadonlyArray<QueuePair>,
): WorkFailed => {
  const queuePair = queuePairs.find(({ number }) => number === completion.qpn)
  return new WorkFailed({
    operation,
    status: statusName(completion.status),
    completion,
    firstFailure: queuePair?.firstFailure,
    event: queuePair?.lastEvent,
  })
}

/** Runs code that posts: what the device refuses becomes the effect's error. */
export const posting = <A>(post: () => A): Effect.Effect<A, VerbsError> =>
  Effect.try({
    try: post,
    catch: (error) => {
      if (error instanceof VerbsError) return error
      throw error
    },
  })
