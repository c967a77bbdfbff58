import { type ControllerFactory, checkFactory, type Framing, hasFields, type Time } from "@rdmakit/protocol"
import { FPDU_ALIGNMENT, iwarpFraming, iwarpPayloadBytes } from "@rdmakit/transport-iwarp"
import { type TcpConfig, tcpConfig } from "@rdmakit/transport-tcp"
import { check } from "./ErdmaError.ts"
import { tenantMtuBytes, vxlanFraming } from "./Overlay.ts"

/** How eRDMA behaves. Only the controller has no default. */
export interface ErdmaOptions {
  readonly controller: ControllerFactory
  /**
   * IP MTU of the network below the tenant's, bytes, 576 to 65,535. Default 8,550, which leaves a tenant the 8,500 of the
   * jumbo frames of Alibaba's VPCs (which the device takes, Linux 9bdb9350f380); 1,550 leaves 1,500.
   */
  readonly underlayMtuBytes?: number
  /** Default "vxlan"; "none" for hosts without an overlay, whose IP MTU is then `underlayMtuBytes`. */
  readonly overlay?: "vxlan" | "none"
  /** Room for telemetry in each data packet where the controller needs `int`, bytes. Default 42, five hops (HPCC, Figure 7). */
  readonly telemetryBytes?: number
  /**
   * A timeout is this much beyond the smoothed round trip, ps, or four deviations. Default 100 µs, or 16 full packets at line
   * rate where that is more.
   */
  readonly timeoutSlackPs?: Time
  /** Timeout before the first round trip is known, ps. Default 1 ms, or 8 base RTTs where that is more. */
  readonly initialTimeoutPs?: Time
  /** Most that a timeout grows to, ps. Default 250 ms, or 256 base RTTs where that is more. */
  readonly mostTimeoutPs?: Time
  /** Timeouts in a row after which the connection ends. Default 15. */
  readonly retryCount?: number
  /** Segments that one acknowledgement answers at most. Default 1. */
  readonly ackEvery?: number
}

const US = 1e6
const TELEMETRY_BYTES = 42

/** eRDMA on the wire without its overlay: iWARP's WRITEs (erdma refuses CRCs, and their field is there). */
export const erdmaFraming = (telemetryBytes: number): Framing => ({ ...iwarpFraming(telemetryBytes), name: "erdma" })

/** The times that nobody gave, by the stream's names. */
const unsaid = ({ timeoutSlackPs, initialTimeoutPs, mostTimeoutPs }: ErdmaOptions): TcpConfig["followsPath"] => [
  ...(timeoutSlackPs === undefined ? (["granularityPs"] as const) : []),
  ...(initialTimeoutPs === undefined ? (["initialTimeoutPs"] as const) : []),
  ...(mostTimeoutPs === undefined ? (["mostTimeoutPs"] as const) : []),
]

/**
 * eRDMA as the stream that carries it: FPDUs aligned with segments (RFC 5044 §5), each acknowledged; losses found by
 * time, also those of what is sent again, and a tail probed at any time; recoveries fill the window, which losses by chance
 * are no reason to leave empty; timeouts a round trip and 100 µs after the last progress. TCP's 200 ms keep hosts that hold
 * acknowledgements back for 40 ms from sending in vain; hardware holds none back, and the deviation of its round trips is
 * that of queues, tens of µs.
 *
 * @throws ErdmaError, TcpTransportError
 */
export const erdmaStream = (options: ErdmaOptions): TcpConfig => {
  check("options", options, hasFields(options), "an object")
  checkFactory(check, options.controller)
  const { controller, underlayMtuBytes = 8550, overlay = "vxlan" } = options
  const isMtu = Number.isInteger(underlayMtuBytes) && underlayMtuBytes >= 576 && underlayMtuBytes <= 65_535
  check("underlayMtuBytes", underlayMtuBytes, isMtu, "an integer of 576 to 65535")
  check("overlay", overlay, overlay === "vxlan" || overlay === "none", "vxlan or none")
  const { telemetryBytes = TELEMETRY_BYTES, timeoutSlackPs = 100 * US } = options
  const { initialTimeoutPs = 1000 * US, mostTimeoutPs = 250_000 * US, retryCount = 15, ackEvery = 1 } = options
  const isRoom = Number.isInteger(telemetryBytes) && telemetryBytes >= 0 && telemetryBytes < 256
  check("telemetryBytes", telemetryBytes, isRoom, "an integer of 0 to 255")
  const isTime = Number.isFinite(timeoutSlackPs) && timeoutSlackPs >= 0
  check("timeoutSlackPs", timeoutSlackPs, isTime, "a finite time of at least 0")
  const telemetry = controller.needs.includes("int") ? telemetryBytes : 0
  const framing = erdmaFraming(telemetry)
  const inner = overlay === "vxlan" ? tenantMtuBytes(underlayMtuBytes) : underlayMtuBytes
  return tcpConfig({
    controller,
    mtuBytes: iwarpPayloadBytes(inner, telemetry),
    framing: overlay === "vxlan" ? vxlanFraming(framing) : framing,
    alignBytes: FPDU_ALIGNMENT,
    leastTimeoutPs: 1,
    granularityPs: timeoutSlackPs,
    initialTimeoutPs,
    mostTimeoutPs,
    followsPath: unsaid(options),
    retryCount,
    ackEvery,
    delayedAckPs: 0,
    quickAcks: 0,
    probesInRecovery: true,
    rateReduction: false,
  })
}
