/** The capture of a run, as a file. */
import { closeSync, openSync, writeSync } from "node:fs"
import { PcapngWriter } from "@rdmakit/pcap"
import { Effect, Exit, type Scope } from "effect"

/** Blocks in front of the interfaces: the section's. */
const SECTION_BLOCKS = 1

/**
 * Writes a pcapng file. What was there before is replaced when there are packets, or when the run has ended well without
 * any: a run that is refused late leaves it as it was.
 *
 * @param interfaces how many the capture describes
 */
export const captureFile = (file: string, interfaces: number): Effect.Effect<PcapngWriter, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      let descriptor: number | undefined
      const writer = new PcapngWriter({}, (piece) => {
        descriptor ??= openSync(file, "w")
        writeSync(descriptor, piece)
      })
      const end = (endedWell: boolean): void => {
        if (endedWell || writer.count > SECTION_BLOCKS + interfaces) writer.flush()
        if (descriptor !== undefined) closeSync(descriptor)
      }
      return { writer, end }
    }),
    ({ end }, exit) => Effect.sync(() => end(Exit.isSuccess(exit))),
  ).pipe(Effect.map(({ writer }) => writer))
