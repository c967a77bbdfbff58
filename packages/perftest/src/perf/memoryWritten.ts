import type { MemoryRegion } from "@rdmakit/verbs"
import { Effect } from "effect"
import { PeerSilent } from "../ProgramError.ts"
import type { PerfService } from "../Settings.ts"
import type { Progress } from "./nextCompletion.ts"

/** A WRITE is not told of at the side that is written to: after so long none is expected. Longer than RC tries. */
const SILENCE_S = { rc: 60, uc: 10, ud: 10 } as const

/**
 * Waits until memory is as wanted: it looks now, and each time that a peer has written there. A program on real memory would
 * look again and again; this one costs nothing while it waits, and sees the change at the moment it happens.
 * @param progress asked for when it is given up
 */
export const memoryWritten = (
  region: MemoryRegion,
  connection: PerfService,
  progress: () => Progress,
  isThere: () => boolean,
): Effect.Effect<void, PeerSilent> =>
  Effect.suspend(() => {
    if (isThere()) return Effect.void
    const seconds = SILENCE_S[connection]
    const orElse = () => Effect.fail(new PeerSilent({ ...progress(), seconds }))
    return written(region, isThere).pipe(Effect.timeoutOrElse({ duration: `${seconds} seconds`, orElse }))
  })

const written = (region: MemoryRegion, isThere: () => boolean): Effect.Effect<void> =>
  Effect.callback<void>(function (resume) {
    // A packet's arrival never runs the program on its own stack.
    const dispatcher = this.makeDispatcher()
    const stop = () => region.handle.onWrite(undefined)
    // Since the first look a packet may have come.
    if (isThere()) {
      resume(Effect.void)
      return
    }
    region.handle.onWrite(() => {
      if (!isThere()) return
      stop()
      dispatcher.scheduleTask(() => resume(Effect.void), 0)
    })
    return Effect.sync(stop)
  })
