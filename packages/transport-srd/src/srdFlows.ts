import { type FlowTransport, makeAck } from "@rdmakit/protocol"
import { Records } from "./Records.ts"
import { type SrdConfig, srdConfig } from "./SrdConfig.ts"
import { SrdEndpoint } from "./SrdEndpoint.ts"

/**
 * SRD as a transport of flows: each flow is a pair of queue pairs with a context of their own, and a message that goes as
 * datagrams of one packet. Switches have to balance by what each packet carries (`entropy` in `fabric`), or all paths are
 * one.
 *
 * @throws SrdOptionsError
 */
export const srdFlows = (options: SrdConfig): FlowTransport => {
  const config = srdConfig(options)
  return {
    name: "srd",
    mtuBytes: config.mtuBytes,
    framing: config.framing,
    telemetry: false,
    local: true,
    open: (hops) => {
      const shared = { config, records: new Records(), ack: makeAck(hops) }
      return (now, address) => new SrdEndpoint(now, shared, address)
    },
  }
}
