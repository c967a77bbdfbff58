import { checkLineRate, checkMtu, hasFields, OptionError, optionChecks, type Time } from "@rdmakit/protocol"

/** Congestion control of TCP. */
export interface TcpOptions {
  readonly variant: "cubic" | "newreno"
  /** First window, bytes. At least 1. Default ten segments (RFC 6928). */
  readonly initialWindowBytes?: number
  /** Ceiling of the window, bytes: what a receive buffer would be. At least 1; Infinity, the default, for none. */
  readonly maxWindowBytes?: number
  /**
   * The least retransmission timeout of the transport, ps: what has not sent for longer than that, and than the timeout that
   * its round trips make, begins with the first window at most (RFC 5681 §4.1). Above 0; Infinity: never. Default 200 ms,
   * as in `transport-tcp`.
   */
  readonly leastTimeoutPs?: Time
  /** HyStart++ (RFC 9406) ends slow starts. Default true, as RFC 9438 §4.10 recommends. */
  readonly hyStart?: boolean
  /** What a reduction leaves of the window, above 0 and below 1. Default 0.7 (RFC 9438 §4.6), 0.5 (RFC 5681 §3.1). */
  readonly beta?: number
  /** CUBIC's C, segments per second cubed. Above 0. Default 0.4 (RFC 9438 §5). */
  readonly c?: number
  /** CUBIC's fast convergence (RFC 9438 §4.7). Default true. */
  readonly fastConvergence?: boolean
}

/** An option, or a property of the path, that TCP's control cannot work with. */
export class TcpOptionsError extends OptionError {
  readonly _tag = "TcpOptionsError"
  override readonly name = "TcpOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("tcp", option, value, expected)
  }
}

const { check, checkAbove, checkAtLeast, checkBoolean } = optionChecks(TcpOptionsError)

/** Throws `TcpOptionsError` at the first option that is out of its range. */
export const checkOptions = (options: TcpOptions): void => {
  check("options", options, hasFields(options), "an object")
  const { variant, maxWindowBytes = 1, leastTimeoutPs = 1, beta = 0.5 } = options
  check("variant", variant, variant === "cubic" || variant === "newreno", "cubic or newreno")
  checkAtLeast("initialWindowBytes", options.initialWindowBytes, 1)
  const isBound = typeof maxWindowBytes === "number" && maxWindowBytes >= 1
  check("maxWindowBytes", maxWindowBytes, isBound, "bytes, at least 1, or Infinity")
  const isTime = typeof leastTimeoutPs === "number" && leastTimeoutPs > 0
  check("leastTimeoutPs", leastTimeoutPs, isTime, "a time above 0, or Infinity")
  check("beta", beta, Number.isFinite(beta) && beta > 0 && beta < 1, "a number above 0, below 1")
  checkAbove("c", options.c, 0)
  for (const option of ["hyStart", "fastConvergence"] as const) checkBoolean(option, options[option])
  const foreign = (["c", "fastConvergence"] as const).find((option) => options[option] !== undefined)
  check(foreign ?? "", variant, variant === "cubic" || foreign === undefined, "left out: it is CUBIC's")
}

/** Throws `TcpOptionsError` when the path has no line rate or no segment. */
export const checkPath = (lineRateBps: number, mtuBytes: number): void => {
  checkLineRate(check, lineRateBps)
  checkMtu(check, mtuBytes)
}
