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

/** The options that are timeouts. */
export type SrdTimeout = "initialTimeoutPs" | "leastTimeoutPs" | "mostTimeoutPs" | "unresponsiveAfterPs"

/** How contexts of SRD behave. One object serves all of a world. */
export interface SrdConfig {
  readonly controller: ControllerFactory
  /** Payload of a full packet, bytes. Default 4,096. A device's datagram of 8,928 bytes takes three. */
  readonly mtuBytes: number
  /** Default `srdFraming`. */
  readonly framing: Framing
  /** Paths that a context spreads its packets over at a time. Default 64. */
  readonly paths: number
  /** Packets after which a path is given up for a fresh one, so that no link has more than its share for long. Default 16. */
  readonly renewAfterPackets: number
  /** A path whose smoothed RTT is above the mean of all by this factor is given up. Default 1.5. */
  readonly overloadFactor: number
  /** Losses in a row, with no acknowledgement between them, after which a path is given up as dead. Default 2. */
  readonly deadAfterLosses: number
  /** Numbers between the oldest packet without acknowledgement and the newest, at most; what a receiver keeps track of. Default 4,096. */
  readonly windowPackets: number
  /** Retransmission timeout before the first round trip is known, ps. Default 100 µs, or 5 base RTTs where that is more. */
  readonly initialTimeoutPs: Time
  /**
   * Least and most that a timeout may be, ps. Default 10 µs, or 16 full packets at line rate where that is more, and 4 ms, or
   * 32 base RTTs.
   */
  readonly leastTimeoutPs: Time
  readonly mostTimeoutPs: Time
  /** The peer is unresponsive when packets have waited so long and nothing has come, ps. Default 1 s, or 256 base RTTs. */
  readonly unresponsiveAfterPs: Time
  /**
   * The timeouts that are longer on a slow path, so that none fires while a packet is only on its way. Default: those that
   * the options do not give.
   */
  readonly followsPath: ReadonlyArray<SrdTimeout>
  /** Code point of data. Default not capable; `ecn` and `cnp` controllers get Capable0. */
  readonly ecn: number
}

export type SrdOptions = Partial<SrdConfig> & Pick<SrdConfig, "controller">

/** An option that SRD cannot work with. */
export class SrdOptionsError extends OptionError {
  readonly _tag = "SrdOptionsError"
  override readonly name = "SrdOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("srd", option, value, expected)
  }
}

const US = 1e6
const MS = 1e9

/**
 * What rdmakit's SRD takes on the wire: 14 Ethernet + 20 IPv4 + 8 UDP + 4 FCS, 20 bytes of preamble and gap, and a header
 * of our own, for AWS publishes none: 24 octets of data, 40 of an acknowledgement with its bitmap.
 */
export const srdFraming: Framing = {
  name: "srd",
  dataBytes: 90,
  telemetryBytes: 0,
  leastBytes: 84,
  ackBytes: 106,
  cnpBytes: 90,
  pfcBytes: 84,
}

/** Throws `SrdOptionsError` unless the value is legal. */
export const { check } = optionChecks(SrdOptionsError)

/** Counts, with the least and the most of each. */
const COUNTS = [
  ["mtuBytes", 1, 2 ** 31 - 1],
  ["paths", 1, 1024],
  ["renewAfterPackets", 1, 2 ** 31 - 1],
  ["deadAfterLosses", 1, 255],
  ["windowPackets", 1, 2 ** 15],
] as const

const TIMEOUTS: ReadonlyArray<SrdTimeout> = [
  "initialTimeoutPs",
  "leastTimeoutPs",
  "mostTimeoutPs",
  "unresponsiveAfterPs",
]

/** Fills in the defaults. @throws SrdOptionsError */
export const srdConfig = (options: SrdOptions): SrdConfig => {
  check("options", options, hasFields(options), "an object")
  checkFactory(check, options.controller)
  const { needs } = options.controller
  const config: SrdConfig = {
    mtuBytes: 4096,
    framing: srdFraming,
    paths: 64,
    renewAfterPackets: 16,
    overloadFactor: 1.5,
    deadAfterLosses: 2,
    windowPackets: 4096,
    initialTimeoutPs: 100 * US,
    leastTimeoutPs: 10 * US,
    mostTimeoutPs: 4 * MS,
    unresponsiveAfterPs: 1000 * MS,
    followsPath: TIMEOUTS.filter((option) => options[option] === undefined),
    ecn: needs.includes("ecn") || needs.includes("cnp") ? Ecn.Capable0 : Ecn.NotCapable,
    ...options,
  }
  for (const [option, least, most] of COUNTS) {
    const value = config[option]
    check(option, value, Number.isInteger(value) && value >= least && value <= most, `an integer, ${least} to ${most}`)
  }
  checkFraming(check, config.framing)
  check(
    "overloadFactor",
    config.overloadFactor,
    Number.isFinite(config.overloadFactor) && config.overloadFactor > 1,
    "a finite number above 1",
  )
  for (const option of TIMEOUTS)
    check(option, config[option], Number.isFinite(config[option]) && config[option] > 0, "a finite time above 0")
  const { followsPath, leastTimeoutPs, mostTimeoutPs } = config
  const areTimeouts = Array.isArray(followsPath) && followsPath.every((option) => TIMEOUTS.includes(option))
  check("followsPath", followsPath, areTimeouts, `a list of ${TIMEOUTS.join(", ")}`)
  check("mostTimeoutPs", mostTimeoutPs, mostTimeoutPs >= leastTimeoutPs, `at least leastTimeoutPs, ${leastTimeoutPs}`)
  check("ecn", config.ecn, [0, 1, 2, 3].includes(config.ecn), "0 to 3")
  return config
}
