import { checkFactory, checkTransport, hasFields, type PeerPath, type VerbsTransport } from "@rdmakit/protocol"
import type { TcpConfig } from "@rdmakit/transport-tcp"
import { type ErdmaOptions, erdmaStream } from "../ErdmaConfig.ts"
import { check, ErdmaError } from "../ErdmaError.ts"
import { CcAlgorithm, type ControllerList, negotiatedController } from "../Negotiation.ts"
import { ErdmaQueuePair } from "./ErdmaQueuePair.ts"

export interface ErdmaVerbsOptions extends ErdmaOptions {
  /**
   * Connections agree on one of these controllers, by MPA's extension, in the private data of the connection manager: both
   * ends ask for a number, and use CUBIC, number 1, where they differ. Queue pairs that nobody agreed for use `controller`.
   * Default: all use it.
   */
  readonly negotiation?: { readonly controllers: ControllerList; readonly congestionControl: number }
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
 * @throws ErdmaError when the list of controllers lacks the number asked for or CUBIC; TcpTransportError
 */
export const erdmaVerbs = (options: ErdmaVerbsOptions): VerbsTransport => {
  check("options", options, hasFields(options), "an object")
  const { datagrams } = options
  if (datagrams !== undefined) checkTransport(check, "datagrams", datagrams)
  // The world of devices adds what telemetry takes.
  const stream = erdmaStream({ ...options, telemetryBytes: 0 })
  const { negotiation } = options
  const agreed = new Map<number, TcpConfig>()
  if (negotiation !== undefined) {
    check("negotiation", negotiation, hasFields(negotiation), "an object")
    const { controllers, congestionControl } = negotiation
    const isNumber = Number.isInteger(congestionControl) && congestionControl >= 0 && congestionControl <= 15
    check("negotiation.congestionControl", congestionControl, isNumber, "an integer of 0 to 15")
    // Whatever the peer asks for, one of these two comes of it.
    for (const algorithm of [congestionControl, CcAlgorithm.Cubic]) {
      const controller = negotiatedController(controllers, algorithm, algorithm)
      checkFactory(check, controller, `negotiation.controllers.${algorithm}`)
      agreed.set(algorithm, erdmaStream({ ...options, controller, telemetryBytes: 0 }))
    }
  }
  const config = (path: PeerPath, payloadBytes: number, algorithm: number | undefined): TcpConfig => {
    const chosen = (algorithm === undefined ? undefined : agreed.get(algorithm)) ?? stream
    return {
      ...chosen,
      mtuBytes: Math.min(chosen.mtuBytes, payloadBytes),
      ecn: (path.trafficClass & 3) === 0 ? chosen.ecn : path.trafficClass & 3,
    }
  }
  return {
    ...(negotiation === undefined ? {} : { congestionControl: negotiation.congestionControl }),
    ...(datagrams === undefined ? { types: ["rc"] } : {}),
    sharedReceives: datagrams === undefined ? [] : (datagrams.sharedReceives ?? ["uc", "ud"]),
    makeEngine: (now, engine) => {
      if (engine.type !== "rc") {
        if (datagrams !== undefined) return datagrams.makeEngine(now, engine)
        throw new ErdmaError("type", engine.type, "rc, which is all that the device has")
      }
      if (engine.sharedReceives !== undefined)
        throw new ErdmaError("sharedReceives", engine.sharedReceives, "none: the device has no such queues")
      return new ErdmaQueuePair(engine, config)
    },
  }
}
