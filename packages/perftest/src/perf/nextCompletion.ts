import type { Completion, QpType } from "@rdmakit/protocol"
import type { CompletionQueue, CqOverrun } from "@rdmakit/verbs"
import { Effect } from "effect"
import { PeerSilent } from "../ProgramError.ts"

/** After so long nothing more is expected of an unreliable connection. */
const SILENCE_S = 10

/** What has come so far of what is waited for, and why the rest may not come. */
export type Progress = Pick<PeerSilent, "waitedFor" | "came" | "wanted" | "doThis">

/**
 * The next completion. Over UC and UD it may never come: after ten seconds it is given up.
 * @param progress asked for when it is
 */
export const nextCompletion = (
  cq: CompletionQueue,
  connection: QpType,
  progress: () => Progress,
): Effect.Effect<Completion, CqOverrun | PeerSilent> => {
  if (connection === "rc") return cq.next
  return Effect.suspend(() => {
    const completion = cq.pollOne()
    if (completion !== undefined) return Effect.succeed(completion)
    const orElse = () => Effect.fail(new PeerSilent({ ...progress(), seconds: SILENCE_S }))
    return cq.next.pipe(Effect.timeoutOrElse({ duration: `${SILENCE_S} seconds`, orElse }))
  })
}

/** What of messages that are sent without waiting for the receiver helps them to arrive. */
export const LOST_IN_FLIGHT =
  "UC and UD lose for good what the network loses and what comes faster than it is received: fewer in flight lose less, --tx-depth (-t)"
/** Of messages that each wait for the one before. */
export const LOST_ALONE = "UC and UD lose for good what the network loses"
