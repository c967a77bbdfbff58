import { type FlowTransport, makeAck } from "@rdmakit/protocol"
import { type TcpConfig, tcpConfig } from "./TcpConfig.ts"
import { TcpEndpoint } from "./TcpEndpoint.ts"

/** TCP connections as a transport of flows: each flow is one, established before it starts, and a message on it. @throws TcpTransportError */
export const tcpFlows = (options: TcpConfig): FlowTransport => {
  const config = tcpConfig(options)
  return {
    name: "tcp",
    mtuBytes: config.mtuBytes,
    framing: config.framing,
    telemetry: config.telemetry,
    octets: { protocol: "tcp" },
    local: true,
    open: (hops) => {
      const ack = makeAck(hops)
      return (now, address) => new TcpEndpoint(now, config, ack, address)
    },
  }
}
