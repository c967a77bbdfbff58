import { checkFactory, type FlowTransport, hasFields } from "@rdmakit/protocol"
import { type TcpTransportOptions, tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { check } from "./IwarpError.ts"
import { FPDU_ALIGNMENT, iwarpFraming, iwarpPayloadBytes } from "./IwarpFraming.ts"

/** TCP's options, but for its sizes on the wire: those are FPDUs'. */
export interface IwarpFlowOptions extends Omit<TcpTransportOptions, "mtuBytes" | "framing" | "alignBytes"> {
  /** Largest IP packet, bytes, 576 to 65,535. Default 1,500, which leaves 1,428 of payload. */
  readonly ipMtuBytes?: number
  /** Room for telemetry in each packet, bytes, 0 to 255, where there is some. Default 42, five hops (HPCC, Figure 7). */
  readonly telemetryBytes?: number
}

const IP_MTU_BYTES = 1500
const TELEMETRY_BYTES = 42

/**
 * iWARP's connections as a transport of flows: each flow is one, established before it starts, and an RDMA WRITE on it, in
 * segments that are one FPDU each. How losses are found and made up for is TCP's: it is the stream below. A message ends
 * when TCP has all of it acknowledged.
 *
 * @throws IwarpError, TcpTransportError
 */
export const iwarpFlows = (options: IwarpFlowOptions): FlowTransport => {
  check("options", options, hasFields(options), "an object")
  checkFactory(check, options.controller)
  const { ipMtuBytes = IP_MTU_BYTES, telemetryBytes = TELEMETRY_BYTES, ...stream } = options
  check("ipMtuBytes", ipMtuBytes, isBetween(ipMtuBytes, 576, 65_535), "an integer of 576 to 65535")
  check("telemetryBytes", telemetryBytes, isBetween(telemetryBytes, 0, 255), "an integer of 0 to 255")
  const { controller, telemetry = controller.needs.includes("int") } = stream
  const room = telemetry ? telemetryBytes : 0
  const config = tcpConfig({
    ...stream,
    mtuBytes: iwarpPayloadBytes(ipMtuBytes, room),
    framing: iwarpFraming(room),
    alignBytes: FPDU_ALIGNMENT,
  })
  return { ...tcpFlows(config), name: "iwarp", octets: { protocol: "tcp", fpdu: "crc" } }
}

const isBetween = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most
