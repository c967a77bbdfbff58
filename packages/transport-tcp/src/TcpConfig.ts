import { Ecn } from "@rdmakit/packet"
import {
  type ControllerFactory,
  checkFactory,
  checkFraming,
  type Framing,
  hasFields,
  OptionError,
  optionChecks,
  type Time,
} from "@rdmakit/protocol"

/** The options that are longer on a slow path unless they are given. */
export type TcpTimeout = "granularityPs" | "initialTimeoutPs" | "mostTimeoutPs"

/** How TCP connections behave. One object serves every connection of a world. */
export interface TcpConfig {
  readonly controller: ControllerFactory
  /** Maximum segment size, bytes of payload. Default 1,448: what Ethernet's 1,500 leave beside IPv4, TCP and time stamps. */
  readonly mtuBytes: number
  /** Default `tcpFraming`. */
  readonly framing: Framing
  /** Payload is padded on the wire to a multiple of this, bytes. Default 1. */
  readonly alignBytes: number
  /** Least retransmission timeout, ps. Default 200 ms (Linux); RFC 6298 §2.4 has 1 s. */
  readonly leastTimeoutPs: Time
  /**
   * Least that a timeout is beyond the smoothed round trip, ps: the clock granularity G of RFC 6298 §2.2. Default 0, and 16
   * full segments at line rate on any path.
   */
  readonly granularityPs: Time
  /** Timeout before the first round trip is known, ps. Default 1 s (RFC 6298 §2.1), or 8 base RTTs where that is more. */
  readonly initialTimeoutPs: Time
  /** Most that a timeout grows to, ps. Default 120 s (Linux), or 256 base RTTs where that is more. */
  readonly mostTimeoutPs: Time
  /**
   * The times that are longer on a slow path, so that no timeout fires while a segment is only on its way. Default: those
   * that the options do not give.
   */
  readonly followsPath: ReadonlyArray<TcpTimeout>
  /** Timeouts in a row after which the connection ends. Default 15 (Linux, tcp_retries2), 65,535 at most. */
  readonly retryCount: number
  /**
   * Segments that one acknowledgement answers at most; 1 answers each at once. Default 2 (RFC 5681 §4.2), or 1 where the
   * controller needs what each packet brings back, marks or telemetry (RFC 8257 §3.2, HPCC §3.1). With 2 a window that has
   * no room for two segments goes on after `delayedAckPs` each time.
   */
  readonly ackEvery: number
  /** How long an acknowledgement is held back at most, ps. Default 40 ms (Linux; RFC 5681 §4.2 allows 500). */
  readonly delayedAckPs: Time
  /**
   * Acknowledgements that go without waiting at the start, after a silence of `leastTimeoutPs`, and after a segment that
   * came twice. Default 16 (Linux, TCP_MAX_QUICKACKS); 0 for none.
   */
  readonly quickAcks: number
  /**
   * "rack-tlp", the default: by time of sending, with a probe for a lost tail (RFC 8985). "sack": three segments beyond
   * (RFC 6675).
   */
  readonly lossDetection: "rack-tlp" | "sack"
  /**
   * Probes also while losses are repaired, where RFC 8985 §7.2 leaves a tail that is lost again to the timeout. Default
   * false.
   */
  readonly probesInRecovery: boolean
  /**
   * Recoveries send by what arrives (PRR, RFC 9937), instead of all that the reduced window has room for. Default true
   * (Linux).
   */
  readonly rateReduction: boolean
  /**
   * Segments that are sent together: less than that, and less than a third of the window, waits for more room, as a sender
   * with segmentation offload waits (Linux, tcp_tso_should_defer). Default 1: no offload.
   */
  readonly offloadSegments: number
  /**
   * A host takes a random time for an acknowledgement before it sends what that lets go, uniform from 0 to this, ps. Without
   * it flows that share a queue fall into step, and some always find it full (Floyd and Jacobson, On Traffic Phase Effects
   * in Packet-Switched Gateways, 1992). Default 0.
   */
  readonly processingPs: Time
  /** Segments out of order that a receiver keeps. Default 2^20. */
  readonly reorderSegments: number
  /** Segments carry telemetry for switches to fill, and acknowledgements bring the last one's back. Default: where the controller needs `int`. */
  readonly telemetry: boolean
  /** Code point of data that is sent for the first time. Default not capable; `ecn` and `cnp` controllers get Capable0. */
  readonly ecn: number
}

export type TcpTransportOptions = Partial<TcpConfig> & Pick<TcpConfig, "controller">

/** An option that TCP cannot work with. */
export class TcpTransportError extends OptionError {
  readonly _tag = "TcpTransportError"
  override readonly name = "TcpTransportError"

  constructor(option: string, value: unknown, expected: string) {
    super("tcp", option, value, expected)
  }
}

const MS = 1e9

/**
 * TCP over IPv4 as it is on the wire: 14 Ethernet + 20 IPv4 + 20 TCP + 12 time stamps (RFC 7323) + 4 FCS, and 20 bytes of
 * preamble and gap. An acknowledgement with three blocks of SACK would take 28 more; they are not counted.
 */
export const tcpFraming: Framing = {
  name: "tcp",
  dataBytes: 90,
  telemetryBytes: 0,
  leastBytes: 84,
  ackBytes: 90,
  cnpBytes: 90,
  pfcBytes: 84,
}

const { check } = optionChecks(TcpTransportError)

/** Options that are whole numbers, by the least that they may be. */
const integers = [
  [0, ["retryCount", "quickAcks"]],
  [1, ["mtuBytes", "alignBytes", "ackEvery", "offloadSegments", "reorderSegments"]],
] as const

const TIMEOUTS: ReadonlyArray<TcpTimeout> = ["granularityPs", "initialTimeoutPs", "mostTimeoutPs"]

/** Fills in the defaults. @throws TcpTransportError */
export const tcpConfig = (options: TcpTransportOptions): TcpConfig => {
  check("options", options, hasFields(options), "an object")
  checkFactory(check, options.controller)
  const { needs } = options.controller
  const goesByPackets = needs.some((need) => need !== "rtt")
  const config: TcpConfig = {
    mtuBytes: 1448,
    framing: tcpFraming,
    alignBytes: 1,
    leastTimeoutPs: 200 * MS,
    granularityPs: 0,
    initialTimeoutPs: 1000 * MS,
    mostTimeoutPs: 120_000 * MS,
    followsPath: TIMEOUTS.filter((option) => options[option] === undefined),
    retryCount: 15,
    ackEvery: goesByPackets ? 1 : 2,
    delayedAckPs: 40 * MS,
    quickAcks: 16,
    lossDetection: "rack-tlp",
    probesInRecovery: false,
    rateReduction: true,
    offloadSegments: 1,
    processingPs: 0,
    reorderSegments: 2 ** 20,
    telemetry: needs.includes("int"),
    ecn: needs.includes("ecn") || needs.includes("cnp") ? Ecn.Capable0 : Ecn.NotCapable,
    ...options,
  }
  const { followsPath, leastTimeoutPs, mostTimeoutPs, lossDetection } = config
  for (const [least, options] of integers) {
    for (const option of options) {
      const value = config[option]
      check(option, value, Number.isSafeInteger(value) && value >= least, `an integer of at least ${least}`)
    }
  }
  checkFraming(check, config.framing)
  check("mtuBytes", config.mtuBytes, config.mtuBytes < 2 ** 31, "below 2^31 bytes")
  check("retryCount", config.retryCount, config.retryCount < 2 ** 16, "below 2^16")
  check("reorderSegments", config.reorderSegments, config.reorderSegments < 2 ** 23, "below 2^23")
  for (const option of ["leastTimeoutPs", "initialTimeoutPs", "mostTimeoutPs"] as const)
    check(option, config[option], Number.isFinite(config[option]) && config[option] > 0, "a finite time above 0")
  check(
    "mostTimeoutPs",
    mostTimeoutPs,
    mostTimeoutPs >= leastTimeoutPs,
    `at least leastTimeoutPs, ${leastTimeoutPs} ps`,
  )
  for (const option of ["delayedAckPs", "granularityPs", "processingPs"] as const)
    check(option, config[option], Number.isFinite(config[option]) && config[option] >= 0, "a finite time of at least 0")
  const areTimeouts = Array.isArray(followsPath) && followsPath.every((option) => TIMEOUTS.includes(option))
  check("followsPath", followsPath, areTimeouts, `a list of ${TIMEOUTS.join(", ")}`)
  check("lossDetection", lossDetection, ["rack-tlp", "sack"].includes(lossDetection), "rack-tlp or sack")
  for (const option of ["telemetry", "probesInRecovery", "rateReduction"] as const)
    check(option, config[option], typeof config[option] === "boolean", "true or false")
  check("ecn", config.ecn, [0, 1, 2, 3].includes(config.ecn), "0 to 3")
  return config
}
