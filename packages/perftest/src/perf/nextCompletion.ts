import type { Completion, QpType } from "@rdmakit/protocol"
import type { CompletionQueue, CqOverrun } from "@rdmakit/verbs"
import { Effect } from "effect"
import { PeerSilent } from "../ProgramError.ts"

/** After so long nothing more is expected of an unreliable connection. */
const SILENCE_S = 10

/** The next completion. Over UC and UD it may never come: after ten seconds it is given up. */
export const nextCompletion = (
  cq: CompletionQueue,
  connection: QpType,
): Effect.Effect<Completion, CqOverrun | PeerSilent> => {
  if (connection === "rc") return cq.next
  return Effect.suspend(() => {
    const completion = cq.pollOne()
    if (completion !== undefined) return Effect.succeed(completion)
    const silent = new PeerSilent({ waitedFor: "completion", seconds: SILENCE_S })
    return cq.next.pipe(Effect.timeoutOrElse({ duration: `${SILENCE_S} seconds`, orElse: () => Effect.fail(silent) }))
  })
}
