import type { VerbsTransport } from "@rdmakit/protocol"
import { IwarpError } from "./IwarpError.ts"
import { IwarpQueuePair } from "./IwarpQueuePair.ts"

export interface IwarpOptions {
  /** Payload of a DDP segment at most, bytes: 1 to 65,000. Default 16,384. */
  readonly segmentBytes?: number
}

const SEGMENT_BYTES = 16_384
/** With the longest header it fits an FPDU's length field. */
const SEGMENT_BYTES_MAX = 65_000

/**
 * iWARP for the verbs: reliable connections, whose engines are `IwarpQueuePair`s. A world of streams drives them.
 *
 * Making an engine throws `IwarpError` for another type than RC, and for a shared receive queue.
 *
 * @throws IwarpError
 */
export const iwarpVerbs = ({ segmentBytes = SEGMENT_BYTES }: IwarpOptions = {}): VerbsTransport => {
  if (!(Number.isInteger(segmentBytes) && segmentBytes >= 1 && segmentBytes <= SEGMENT_BYTES_MAX))
    throw new IwarpError("segmentBytes", segmentBytes, `a whole number 1..${SEGMENT_BYTES_MAX}`)
  return {
    types: ["rc"],
    sharedReceives: [],
    makeEngine: (_now, engine) => {
      if (engine.type !== "rc") throw new IwarpError("type", engine.type, "rc: iWARP has connections alone")
      if (engine.sharedReceives !== undefined)
        throw new IwarpError("sharedReceives", "a shared receive queue", "receives of the queue pair's own")
      return new IwarpQueuePair(engine, segmentBytes)
    },
  }
}
