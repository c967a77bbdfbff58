import type { PeerPath, VerbsTransport } from "@rdmakit/protocol"
import type { TcpConfig } from "@rdmakit/transport-tcp"
import { type ErdmaOptions, erdmaStream } from "../ErdmaConfig.ts"
import { ErdmaError } from "../ErdmaError.ts"
import { ErdmaQueuePair } from "./ErdmaQueuePair.ts"

export interface ErdmaVerbsOptions extends ErdmaOptions {
  /**
   * What makes queue pairs of other types than RC. The device has none; its driver's compatibility mode has datagrams in
   * software, for connection managers of RoCE, and this is where they come from. Default: such a queue pair is refused.
   */
  readonly datagrams?: VerbsTransport
}

/**
 * eRDMA for the verbs: reliable connections whose messages go through streams. A payload is at most what the path MTU
 * leaves beside headers that are longer than RoCE's.
 *
 * Making an engine throws `ErdmaError` for another type than RC, unless `datagrams` makes it, and for a shared receive
 * queue.
 *
 * @throws ErdmaError, TcpTransportError
 */
export const erdmaVerbs = (options: ErdmaVerbsOptions): VerbsTransport => {
  const { datagrams } = options
  // The world of devices adds what telemetry takes.
  const stream = erdmaStream({ ...options, telemetryBytes: 0 })
  const config = (path: PeerPath, payloadBytes: number): TcpConfig => ({
    ...stream,
    mtuBytes: Math.min(stream.mtuBytes, payloadBytes),
    ecn: (path.trafficClass & 3) === 0 ? stream.ecn : path.trafficClass & 3,
  })
  return {
    ...(datagrams === undefined ? { types: ["rc"] } : {}),
    makeEngine: (now, engine) => {
      if (engine.type !== "rc") {
        if (datagrams !== undefined) return datagrams.makeEngine(now, engine)
        throw new ErdmaError("type", engine.type, "rc, which is all that the device has")
      }
      if (engine.sharedReceives !== undefined)
        throw new ErdmaError("sharedReceives", "a shared receive queue", "none: the device has no such queues")
      return new ErdmaQueuePair(engine, config)
    },
  }
}
