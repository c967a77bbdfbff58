import type { CarrierHost, DeviceTransport, QpType, Time, VerbsTransport } from "@rdmakit/protocol"
import { SrdOptionsError } from "../SrdConfig.ts"
import { Carrier } from "./Carrier.ts"
import { HEADER_BYTES_MAX } from "./Operation.ts"
import { SrdQueuePair } from "./SrdQueuePair.ts"
import { type SrdVerbsOptions, srdVerbsConfig } from "./SrdVerbsOptions.ts"

const DATAGRAM_TYPES: ReadonlyArray<QpType> = ["rc", "uc", "ud"]

/**
 * SRD for the verbs: queue pairs of type `srd`, as EFA's direct verbs offer them. A device opens it, and has then one context
 * for each peer's address, whichever queue pair sends. Switches have to balance by each packet's own UDP ports (`entropy` in
 * `fabric`), or all paths are one.
 *
 * Making an engine throws `SrdOptionsError` for another type, unless `datagrams` makes it; for a shared receive queue; and
 * where no device has opened the transport.
 *
 * @throws SrdOptionsError
 */
export const srdVerbs = (options: SrdVerbsOptions): VerbsTransport => {
  const config = srdVerbsConfig(options)
  const { datagrams } = options
  const others = datagrams === undefined ? [] : (datagrams.types ?? DATAGRAM_TYPES)
  const common = {
    types: ["srd", ...others] as ReadonlyArray<QpType>,
    sharedReceives: datagrams?.sharedReceives ?? others,
    rnrRetry: config.capabilities.rnrRetry,
    headerBytes: HEADER_BYTES_MAX,
  }
  const open = (_now: Time, host: CarrierHost): DeviceTransport => {
    const carrier = new Carrier(host, config)
    return {
      ...common,
      carrier,
      get counters() {
        return carrier.counters.named(carrier.contexts)
      },
      forget: (now, path) => carrier.forget(now, path),
      forgetPeer: (now, peer) => carrier.forgetPeer(now, peer),
      makeEngine: (now, engine) => {
        if (engine.type !== "srd") {
          if (datagrams !== undefined) return datagrams.makeEngine(now, engine)
          throw new SrdOptionsError("type", engine.type, "srd, which is all that the device has")
        }
        if (engine.sharedReceives !== undefined)
          throw new SrdOptionsError("sharedReceives", engine.sharedReceives, "none: the device has no such queues")
        return new SrdQueuePair(engine, carrier)
      },
    }
  }
  return {
    ...common,
    open,
    makeEngine: () => {
      throw new SrdOptionsError("device", undefined, "a transport that a device has opened")
    },
  }
}
