/** The capture of a run, as a file. */
import { closeSync, openSync, writeSync } from "node:fs"
import { PcapngWriter } from "@rdmakit/pcap"
import { Deferred, Effect, Exit } from "effect"
import { cannotBeWritten, type Refused } from "../Exit.ts"

/** Blocks in front of the interfaces: the section's. */
const SECTION_BLOCKS = 1

/**
 * Runs a program that writes a pcapng file. What was there before is replaced when there are packets, or when the program
 * has ended well without any: a run that is refused late leaves it as it was. A file that cannot be written ends the program.
 *
 * @param interfaces how many the capture describes
 */
export const capturing = <A, E, R>(
  file: string,
  interfaces: number,
  program: (writer: PcapngWriter) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | Refused, R> =>
  Effect.suspend(() => {
    const failed = Deferred.makeUnsafe<never, Refused>()
    const pieces = new Pieces(file, (refusal) => Deferred.doneUnsafe(failed, Effect.fail(refusal)))
    const writer = new PcapngWriter({}, (piece) => pieces.write(piece))
    const end = (endedWell: boolean): Effect.Effect<void, Refused> => {
      if (endedWell || writer.count > SECTION_BLOCKS + interfaces) writer.flush()
      pieces.close()
      return endedWell && pieces.refusal !== undefined ? Effect.fail(pieces.refusal) : Effect.void
    }
    return Effect.raceFirst(program(writer), Deferred.await(failed)).pipe(
      Effect.onExit((exit) => Effect.suspend(() => end(Exit.isSuccess(exit)))),
    )
  })

/** The file, opened at the first piece. It is written inside a network's events, to which nothing may be thrown. */
class Pieces {
  refusal: Refused | undefined = undefined
  readonly #file: string
  readonly #onRefusal: (refusal: Refused) => void
  #descriptor: number | undefined = undefined

  constructor(file: string, onRefusal: (refusal: Refused) => void) {
    this.#file = file
    this.#onRefusal = onRefusal
  }

  /** After a refusal nothing is written any more. */
  write(piece: Uint8Array): void {
    if (this.refusal !== undefined) return
    try {
      this.#descriptor ??= openSync(this.#file, "w")
      for (let written = 0; written < piece.length; )
        written += writeSync(this.#descriptor, piece, written, piece.length - written)
    } catch (error) {
      this.refusal = cannotBeWritten(this.#file, "choose another with --pcap FILE", error)
      this.#onRefusal(this.refusal)
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}
