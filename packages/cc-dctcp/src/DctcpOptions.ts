import {
  checkBaseRtt,
  checkLineRate,
  checkMtu,
  hasFields,
  OptionError,
  optionChecks,
  type PathInfo,
  type RateWindow,
  type Time,
} from "@rdmakit/protocol"

/**
 * The window that bounds the bytes in flight of the rate form (HPCC §5.1 runs DCTCP with one).
 *
 * - `none`: pacing alone.
 * - `fixed`: `PathInfo.windowBytes`.
 * - `variable`: that window times the rate over the line rate, whole bytes, at least 1.
 *
 * Where the path gives no window (`windowBytes` 0) there is none.
 */
export type DctcpWindow = RateWindow

/** DCTCP as a TCP sender has it (Alizadeh et al., SIGCOMM 2010; RFC 8257): a congestion window in bytes. */
export interface DctcpPaperOptions {
  readonly variant: "paper"
  /** g, weight of the newest share of marked bytes, above 0 to 1. Default 1/16 (DCTCP §4; RFC 8257 §4.2). */
  readonly g?: number
  /** What the window grows by in a round trip without marks, bytes. At least 0. Default one packet (RFC 5681 §3.1). */
  readonly additiveIncreaseBytes?: number
  /** Floor of the window but after a timeout, bytes. At least 1. Default two packets (RFC 5681 §3.1, eq. 4). */
  readonly minWindowBytes?: number
  /** Ceiling of the window, bytes; Infinity, the default, for none. Not below the floor. */
  readonly maxWindowBytes?: number
  /**
   * `line-rate`, the default: with the bandwidth-delay product, as RDMA starts. `slow-start`: with `initialWindowBytes`,
   * doubling each round trip until the first mark or loss, as TCP does.
   */
  readonly start?: "line-rate" | "slow-start"
  /** First window of a slow start, bytes. At least 1. Default ten packets (RFC 6928). */
  readonly initialWindowBytes?: number
  /**
   * The least retransmission timeout of the transport, ps: what has nothing out and has not sent for longer begins with the
   * first window at most (RFC 5681 §4.1). Above 0; Infinity: never. Default 200 ms, as in `transport-tcp`, with
   * `slow-start`; Infinity with `line-rate`, as RDMA keeps its window.
   */
  readonly leastTimeoutPs?: Time
  /** The window is spread over the base RTT, rather than sent at line rate. Default false, as TCP. */
  readonly pacing?: boolean
}

/** DCTCP as HPCC's ns-3 code has it (CC_MODE 8): an integer rate, marked packets counted. */
export interface DctcpNs3Options {
  readonly variant: "ns3"
  /** EWMA_GAIN, 0 to 1. Default 1/16 (run.py). With 0, which the simulator takes without the key, α stays 1. */
  readonly g?: number
  /** DCTCP_RATE_AI, bit/s. Integer, at least 0. Default one packet in a base RTT, which run.py's 615 Mb/s is at 13 µs. */
  readonly additiveIncreaseBps?: number
  /** MIN_RATE, bit/s. Integer, at least 1. Default 1 Gb/s (run.py). A slower line lowers it to its own rate. */
  readonly minRateBps?: number
  /** HAS_WIN, VAR_WIN. Default `none`; run.py has `variable`. */
  readonly window?: DctcpWindow
}

export type DctcpOptions = DctcpPaperOptions | DctcpNs3Options

/** An option, or a property of the path, that DCTCP cannot work with. */
export class DctcpOptionsError extends OptionError {
  readonly _tag = "DctcpOptionsError"
  override readonly name = "DctcpOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("dctcp", option, value, expected)
  }
}

const { check, checkAtLeast, checkBoolean, checkInteger, checkShare, checkWithin, checkWord } =
  optionChecks(DctcpOptionsError)

/** Throws `DctcpOptionsError` at the first option that is out of its range. */
export const checkOptions = (options: DctcpOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant } = options
  check("variant", variant, variant === "paper" || variant === "ns3", "paper or ns3")
  if (options.variant === "ns3") {
    checkWithin("g", options.g, 0, 1)
    checkWord("window", options.window, ["none", "fixed", "variable"])
    checkInteger("additiveIncreaseBps", options.additiveIncreaseBps, 0)
    checkInteger("minRateBps", options.minRateBps, 1)
    return
  }
  checkShare("g", options.g)
  const { minWindowBytes = 1, maxWindowBytes = Infinity, leastTimeoutPs = 1 } = options
  checkWord("start", options.start, ["line-rate", "slow-start"])
  checkBoolean("pacing", options.pacing)
  checkAtLeast("additiveIncreaseBytes", options.additiveIncreaseBytes, 0)
  checkAtLeast("minWindowBytes", options.minWindowBytes, 1)
  checkAtLeast("initialWindowBytes", options.initialWindowBytes, 1)
  const isTime = typeof leastTimeoutPs === "number" && leastTimeoutPs > 0
  check("leastTimeoutPs", leastTimeoutPs, isTime, "a time above 0, or Infinity")
  check(
    "maxWindowBytes",
    maxWindowBytes,
    typeof maxWindowBytes === "number" && maxWindowBytes >= minWindowBytes,
    `a number, at least the floor of ${minWindowBytes} bytes`,
  )
}

/** Throws `DctcpOptionsError` when the path has no line rate, base RTT or packet, by which windows and rates are reckoned. */
export const checkPath = ({ lineRateBps, baseRttPs, mtuBytes }: PathInfo): void => {
  checkLineRate(check, lineRateBps)
  checkBaseRtt(check, baseRttPs)
  checkMtu(check, mtuBytes)
}

/** DCTCP §4, RFC 8257 §4.2, and run.py of HPCC's ns-3 code. */
export const defaults = { g: 1 / 16, minRateBps: 1e9 } as const
