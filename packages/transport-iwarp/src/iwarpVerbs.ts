import { hasFields, type VerbsTransport } from "@rdmakit/protocol"
import { check } from "./IwarpError.ts"
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
export const iwarpVerbs = (options: IwarpOptions = {}): VerbsTransport => {
  check("options", options, hasFields(options), "an object")
  const { segmentBytes = SEGMENT_BYTES } = options
  const isSize = Number.isInteger(segmentBytes) && segmentBytes >= 1 && segmentBytes <= SEGMENT_BYTES_MAX
  check("segmentBytes", segmentBytes, isSize, `an integer of 1 to ${SEGMENT_BYTES_MAX}`)
  return {
    types: ["rc"],
    sharedReceives: [],
    makeEngine: (_now, engine) => {
      check("type", engine.type, engine.type === "rc", "rc: iWARP has connections alone")
      const { sharedReceives } = engine
      check("sharedReceives", sharedReceives, sharedReceives === undefined, "receives of the queue pair's own")
      return new IwarpQueuePair(engine, segmentBytes)
    },
  }
}
