import { Ecn } from "@rdmakit/packet"
import {
  type ControllerFactory,
  checkFactory,
  type Framing,
  hasFields,
  optionChecks,
  type Time,
} from "@rdmakit/protocol"
import {
  localAckTimeoutPs,
  ns3Framing,
  type RcConfig,
  RcOptionsError,
  rcConfig,
  rocev2Framing,
  type TelemetryKind,
} from "@rdmakit/transport-ib"

/** What the reliable connections of a network are set to. Every field has a default. */
export interface TransportSettings
  extends Partial<
    Pick<
      RcConfig,
      | "mtuBytes"
      | "ackEvery"
      | "nakIntervalPs"
      | "ackDuplicates"
      | "ackTimeoutPs"
      | "retryCount"
      | "repace"
      | "rateBound"
      | "recovery"
      | "restartBytes"
      | "bdpPackets"
      | "reorderPackets"
      | "ackTimeoutHighPs"
      | "ackTimeoutFewPackets"
    >
  > {
  /**
   * What headers cost. "simulator", the default: 48 B a packet and 42 B of INT, as in the HPCC paper's simulations.
   * "rocev2": RoCEv2 over IPv4 on the wire, preamble and gap included. Or a framing of one's own.
   */
  readonly framing?: "simulator" | "rocev2" | Framing
  /**
   * The base RTT that controllers are told. "fabric", the default: the largest of any two hosts, one for all flows
   * (HPCC §3.3: T). "pair": of the flow's own hosts. The window is that times the NIC's rate.
   */
  readonly baseRtt?: "fabric" | "pair"
}

const { check, checkWord } = optionChecks(RcOptionsError)

/** Payload of the HPCC paper's simulations, bytes. */
const MTU_BYTES = 1000
/** 4.19 ms. */
const TIMEOUT_CODE = 10
/** 2.4 hours. */
const TIMEOUT_CODE_MAX = 31
/** Of the longest base RTTs of a network, in its default timeout at least: an incast of several tens leaves it alone. */
const ROUND_TRIPS = 32
/** The same of either timeout of IRN, whose RTO_low of 100 µs is for a base RTT of 24 µs (IRN §4.1). */
const ROUND_TRIPS_SELECTIVE = 4

/** What `rcConfig` does not see of them. @throws RcOptionsError */
const checkSettings = (settings: TransportSettings, controller: ControllerFactory): void => {
  check("transport", settings, hasFields(settings), "settings, an object, or another transport")
  checkFactory(check, controller)
  checkWord("baseRtt", settings.baseRtt, ["fabric", "pair"])
  const { framing } = settings
  check(
    "framing",
    framing,
    framing === undefined || hasFields(framing) || framing === "simulator" || framing === "rocev2",
    "simulator, rocev2 or a framing, an object",
  )
}

const framingOf = (name: TransportSettings["framing"], kind: TelemetryKind, hops: number): Framing => {
  if (typeof name === "object") return name
  return name === "rocev2" ? rocev2Framing(kind, hops) : ns3Framing(kind)
}

/**
 * A reliable connection for these settings: every packet is acknowledged, a gap is told of by one NAK, duplicates are
 * answered, data is ECN-capable, and the timeout is 4.096 µs · 2^10 (IBTA 1.7 §9.7.6.1.3) unless the settings say
 * otherwise. With selective repeat timeouts are those of IRN. {@link patient} makes defaults longer on slow networks.
 *
 * @param hops switches on the longest path: room for their telemetry
 * @throws RcOptionsError
 */
export const nativeTransport = (settings: TransportSettings, controller: ControllerFactory, hops: number): RcConfig => {
  checkSettings(settings, controller)
  const { framing, baseRtt: _, ...rest } = settings
  const telemetry = controller.needs.includes("int")
  return rcConfig({
    mtuBytes: MTU_BYTES,
    // Selective repeat has shorter ones of its own.
    ...(rest.recovery === "selective-repeat" ? {} : { ackTimeoutPs: localAckTimeoutPs(TIMEOUT_CODE) }),
    ecn: Ecn.Capable0,
    ...rest,
    controller,
    telemetry,
    framing: framingOf(framing, telemetry ? "int" : controller.needs.includes("pint") ? "pint" : "none", hops),
  })
}

/**
 * The same with default timeouts that do not fire while a packet of a slow network is only on its way, as a subnet's
 * Local ACK Timeout follows its packet lifetime (IBTA 1.7 §12.7.34): at least 32 longest base RTTs, with selective
 * repeat 4. Timeouts that the settings give stay as they are.
 *
 * @param longestRttPs the longest base RTT of two hosts, ps; asked for when a timeout is open
 */
export const patient = (config: RcConfig, settings: TransportSettings, longestRttPs: () => Time): RcConfig => {
  const { ackTimeoutPs: low, ackTimeoutHighPs: high } = settings
  if (config.recovery !== "selective-repeat") {
    if (low !== undefined) return config
    const leastPs = ROUND_TRIPS * longestRttPs()
    let code = TIMEOUT_CODE
    while (code < TIMEOUT_CODE_MAX && localAckTimeoutPs(code) < leastPs) code++
    return { ...config, ackTimeoutPs: localAckTimeoutPs(code) }
  }
  if (low !== undefined && high !== undefined) return config
  const leastPs = ROUND_TRIPS_SELECTIVE * longestRttPs()
  const ackTimeoutHighPs = high ?? Math.max(config.ackTimeoutHighPs, leastPs)
  const ackTimeoutPs = low ?? Math.max(config.ackTimeoutPs, Math.min(leastPs, ackTimeoutHighPs))
  return { ...config, ackTimeoutPs, ackTimeoutHighPs }
}
