import type { ControllerFactory, Framing, Time } from "@rdmakit/protocol"
import { type TcpConfig, tcpConfig } from "@rdmakit/transport-tcp"
import { ErdmaError } from "./ErdmaError.ts"
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
  /** A timeout is this much beyond the smoothed round trip, ps, or four deviations. Default 100 µs. */
  readonly timeoutSlackPs?: Time
  /** Timeout before the first round trip is known, ps. Default 1 ms. */
  readonly initialTimeoutPs?: Time
  /** Most that a timeout grows to, ps. Default 250 ms. */
  readonly mostTimeoutPs?: Time
  /** Timeouts in a row after which the connection ends. Default 15. */
  readonly retryCount?: number
  /** Segments that one acknowledgement answers at most. Default 1. */
  readonly ackEvery?: number
}

const US = 1e6
/** A tagged segment's headers: DDP and RDMAP control 2, STag 4, tagged offset 8 (RFC 5041 §4.2, RFC 5040 §4.1). */
export const TAGGED_BYTES = 14
/** An untagged one's: control 2, invalidated STag 4, queue, sequence and offset of the message 12 (RFC 5041 §4.3). */
export const UNTAGGED_BYTES = 18
/** MPA's length before a segment, and the field of its CRC behind: erdma refuses CRCs, and the field is there (RFC 5044 §4.1). */
const FPDU_BYTES = 2 + 4
/** FPDUs are padded to a multiple of four (RFC 5044 §4.1). */
const FPDU_ALIGNMENT = 4
/** IPv4 20, TCP 20 and its time stamps 12 (RFC 7323). */
const STREAM_BYTES = 52
/** Ethernet header and FCS 18, preamble and gap 20. */
const ETHERNET_BYTES = 38
const LEAST_FRAME_BYTES = 84
const TELEMETRY_BYTES = 42

/** What a tagged FPDU costs beside its payload, when the payload is a multiple of four. */
const FPDU_OVERHEAD = FPDU_BYTES + TAGGED_BYTES

/** eRDMA on the wire without its overlay: every segment is one FPDU, with a tagged header. */
export const erdmaFraming = (telemetryBytes: number): Framing => ({
  name: "erdma",
  dataBytes: ETHERNET_BYTES + STREAM_BYTES + FPDU_OVERHEAD,
  telemetryBytes,
  leastBytes: LEAST_FRAME_BYTES,
  ackBytes: ETHERNET_BYTES + STREAM_BYTES + telemetryBytes,
  cnpBytes: ETHERNET_BYTES + STREAM_BYTES,
  pfcBytes: LEAST_FRAME_BYTES,
})

/**
 * eRDMA as the stream that carries it: FPDUs aligned with segments (RFC 5044 §5.2), each acknowledged; losses found by
 * time, also those of what is sent again, and a tail probed at any time; recoveries fill the window, which losses by chance
 * are no reason to leave empty; timeouts a round trip and 100 µs after the last
 * progress. TCP's 200 ms keep hosts that hold acknowledgements back for 40 ms from sending in vain; hardware holds none
 * back, and the deviation of its round trips is that of queues, tens of µs.
 *
 * @throws ErdmaError, TcpTransportError
 */
export const erdmaStream = (options: ErdmaOptions): TcpConfig => {
  const { controller, underlayMtuBytes = 8550, overlay = "vxlan" } = options
  if (!(Number.isInteger(underlayMtuBytes) && underlayMtuBytes >= 576 && underlayMtuBytes <= 65_535))
    throw new ErdmaError("underlayMtuBytes", underlayMtuBytes, "an integer of 576 to 65535")
  if (overlay !== "vxlan" && overlay !== "none") throw new ErdmaError("overlay", overlay, "vxlan or none")
  const { telemetryBytes = TELEMETRY_BYTES } = options
  if (!(Number.isInteger(telemetryBytes) && telemetryBytes >= 0 && telemetryBytes < 256))
    throw new ErdmaError("telemetryBytes", telemetryBytes, "an integer of 0 to 255")
  const telemetry = controller.needs.includes("int") ? telemetryBytes : 0
  const framing = erdmaFraming(telemetry)
  const inner = overlay === "vxlan" ? tenantMtuBytes(underlayMtuBytes) : underlayMtuBytes
  const room = inner - STREAM_BYTES - FPDU_OVERHEAD - telemetry
  return tcpConfig({
    controller,
    mtuBytes: room - (room % FPDU_ALIGNMENT),
    framing: overlay === "vxlan" ? vxlanFraming(framing) : framing,
    alignBytes: FPDU_ALIGNMENT,
    leastTimeoutPs: 1,
    granularityPs: options.timeoutSlackPs ?? 100 * US,
    initialTimeoutPs: options.initialTimeoutPs ?? 1000 * US,
    mostTimeoutPs: options.mostTimeoutPs ?? 250_000 * US,
    retryCount: options.retryCount ?? 15,
    ackEvery: options.ackEvery ?? 1,
    delayedAckPs: 0,
    quickAcks: 0,
    probesInRecovery: true,
    rateReduction: false,
  })
}
