/** The capture of a run, as a file. */
import { closeSync, constants, openSync, statSync, writeSync } from "node:fs"
import { PcapngWriter } from "@rdmakit/pcap"
import { Deferred, Effect, Exit } from "effect"
import { cannotBeWritten, Refused } from "../Exit.ts"
import { type StagedFile, stagedFile } from "../StagingFolder.ts"
import { systemCode } from "../SystemWords.ts"
import type { WantedCapture } from "./World.ts"

/** Blocks in front of the interfaces: the section's. */
const SECTION_BLOCKS = 1
const ELSEWHERE = "choose another with --pcap FILE"

/**
 * Runs a program that writes a pcapng file, which is seen when the program has ended: well, or with packets in it. A run
 * that is refused late, and a capture that its disk has no room for, leave what was there as it was. A file that cannot
 * be written ends the program.
 *
 * @param interfaces how many the capture describes
 */
export const capturing = <A, E, R>(
  { name, path, isDevice }: WantedCapture,
  interfaces: number,
  program: (writer: PcapngWriter) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const refused = (error: unknown) => cannotBeWritten(name, ELSEWHERE, error)
    const file: StagedFile = isDevice
      ? { path, publish: Effect.void }
      : yield* Effect.mapError(stagedFile(path), refused)
    const descriptor = yield* fifoOf(name, path)
    const failed = Deferred.makeUnsafe<never, Refused>()
    const pieces = new Pieces(
      file.path,
      (error) => Deferred.doneUnsafe(failed, Effect.fail(refused(error))),
      descriptor,
    )
    const writer = new PcapngWriter({}, (piece) => pieces.write(piece))
    const end = (endedWell: boolean): Effect.Effect<void, Refused> => {
      if (endedWell || writer.count > SECTION_BLOCKS + interfaces) writer.flush()
      pieces.close()
      if (pieces.error !== undefined) return endedWell ? Effect.fail(refused(pieces.error)) : Effect.void
      return pieces.isWritten ? Effect.mapError(file.publish, refused) : Effect.void
    }
    return yield* Effect.raceFirst(program(writer), Deferred.await(failed)).pipe(
      Effect.onExit((exit) => Effect.suspend(() => end(Exit.isSuccess(exit)))),
    )
  }).pipe(Effect.scoped)

/**
 * Opens a FIFO, whose reader must be there: to wait for one would stop everything, signals too. Undefined: it is none.
 * It is opened once without waiting and held until it is open for writes that wait for a slow reader: in between the
 * reader would take it for ended.
 */
const fifoOf = (name: string, path: string): Effect.Effect<number | undefined, Refused> =>
  Effect.suspend(() => {
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isFIFO() !== true) return Effect.succeed(undefined)
      const first = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
      try {
        return Effect.succeed(openSync(path, "w"))
      } finally {
        closeSync(first)
      }
    } catch (error) {
      if (systemCode(error) !== "ENXIO") return Effect.fail(cannotBeWritten(name, ELSEWHERE, error))
      const message = `${name}: cannot be written to: nobody reads this FIFO`
      return Effect.fail(new Refused({ message, hint: `start its reader first, or ${ELSEWHERE}` }))
    }
  })

/** The file, opened at the first piece. It is written inside a network's events, to which nothing may be thrown. */
class Pieces {
  /** What the system answered to a write, once it failed. */
  error: unknown = undefined
  readonly #file: string
  readonly #onError: (error: unknown) => void
  #descriptor: number | undefined = undefined

  /** @param descriptor of a file that is open already */
  constructor(file: string, onError: (error: unknown) => void, descriptor: number | undefined) {
    this.#file = file
    this.#onError = onError
    this.#descriptor = descriptor
  }

  get isWritten(): boolean {
    return this.#descriptor !== undefined
  }

  /** After an error nothing is written any more. */
  write(piece: Uint8Array): void {
    if (this.error !== undefined) return
    try {
      this.#descriptor ??= openSync(this.#file, "w")
      for (let written = 0; written < piece.length; )
        written += writeSync(this.#descriptor, piece, written, piece.length - written)
    } catch (error) {
      this.error = error
      this.#onError(error)
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}
