import { type FlowTransport, makeAck } from "@rdmakit/protocol"
import { makeQueuePair } from "./makeQueuePair.ts"
import { type RcConfig, rcConfig } from "./RcConfig.ts"

/** Reliable connections as a transport of flows: each flow is one, and a WRITE on it. @throws RcOptionsError */
export const rcFlows = (options: RcConfig): FlowTransport => {
  const config = rcConfig(options)
  return {
    name: "rc",
    mtuBytes: config.mtuBytes,
    framing: config.framing,
    telemetry: config.telemetry,
    octets: { protocol: "roce" },
    local: true,
    open: (hops) => {
      const ack = makeAck(hops)
      return (now, address) => makeQueuePair(now, config, ack, address)
    },
  }
}
