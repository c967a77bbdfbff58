import type { FlowTransport } from "@rdmakit/protocol"
import { tcpFlows } from "@rdmakit/transport-tcp"
import { type ErdmaOptions, erdmaStream } from "./ErdmaConfig.ts"
import { throughVxlan } from "./Overlay.ts"

/**
 * eRDMA's connections as a transport of flows: each flow is one, established before it starts, and an RDMA WRITE on it.
 * One path for each, by the ports of the overlay's tunnel; ordered delivery; the receiver holds what comes out of order.
 *
 * @throws ErdmaError, TcpTransportError
 */
export const erdmaFlows = (options: ErdmaOptions): FlowTransport => {
  const stream = tcpFlows(erdmaStream(options))
  const transport: FlowTransport = { ...stream, name: "erdma", octets: { protocol: "tcp", fpdu: "noCrc" } }
  return (options.overlay ?? "vxlan") === "vxlan" ? throughVxlan(transport) : transport
}
