import { Ecn } from "@rdmakit/packet"
import {
  type ControllerFactory,
  checkFactory,
  checkFraming,
  type Framing,
  hasFields,
  NEVER,
  OptionError,
  optionChecks,
  type Time,
} from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import { rocev2Framing } from "./Framing.ts"

/** How a reliable-connection endpoint behaves; one object serves every queue pair of a world. `rcConfig` makes one. */
export interface RcConfig {
  /**
   * Payload of a full packet, bytes (the path MTU; IBTA has 256 to 4096). An integer, at least 1. Default 1024, the
   * largest of IBTA's that fits an Ethernet frame of 1,500 bytes.
   */
  readonly mtuBytes: number
  /** Default `rocev2Framing`, with room for the telemetry of 5 hops (HPCC §4.1) where the packets carry it. */
  readonly framing: Framing
  readonly controller: ControllerFactory
  /** Data packets carry a telemetry block for switches to fill. Default: where the controller needs `int`. */
  readonly telemetry: boolean
  /**
   * Acknowledge every n-th packet; the last packet of a message is always acknowledged, and so is one that fills the
   * window. An integer, at least 1. Default 1, every packet.
   *
   * Gotcha: above 1, a window that shrinks below what is out leaves it to the timeout to find what was received.
   */
  readonly ackEvery: number
  /**
   * The ns-3 model's rule instead of `ackEvery`: acknowledge once this many bytes have come in all, or at multiples of
   * `ns3AckChunkBytes` (L2_ACK_INTERVAL, L2_CHUNK_SIZE), and what is sent again after a timeout. Undefined, the default:
   * `ackEvery` decides.
   */
  readonly ns3AckBytes?: number
  readonly ns3AckChunkBytes?: number
  /**
   * The ns-3 model's L2_BACK_TO_ZERO: a gap takes both ends back to the start of a chunk of `ns3AckChunkBytes`, and
   * acknowledgements count whole chunks only: a message whose last chunk is not full never ends. Needs chunks of whole
   * packets, and go-back-N. Default false.
   */
  readonly ns3BackToZero?: boolean
  /**
   * The ns-3 model's go-back-N: every NAK goes back, and acknowledgements do not move the next packet to send, which may be
   * one that has come: see `Ns3QueuePair`. Its controllers alone are used to that. Needs go-back-N. Default false.
   */
  readonly ns3GoBack?: boolean
  /**
   * What is sent again after a loss. "go-back-n", the default: all from the lost packet on (IBTA 1.7 §9.7).
   * "selective-repeat": only what is lost, as IRN has it (Mittal et al., SIGCOMM 2018, §3): the receiver keeps what comes
   * out of order and tells of it by NAKs, and at most `bdpPackets` are in flight; the four options after `restartBytes`
   * are for it. "go-back-0": the whole message (Guo et al., SIGCOMM 2016, §4.1), or so much of it as `restartBytes` says.
   * "timeout": go-back-n whose receiver says nothing of a gap.
   */
  readonly recovery: "go-back-n" | "selective-repeat" | "go-back-0" | "timeout"
  /**
   * Of go-back-0: a message is taken as several of this many bytes, whole packets. Undefined, the default: a loss takes
   * both ends back to its beginning, however long it is.
   */
  readonly restartBytes?: number
  /**
   * Most packets in flight, from the oldest unacknowledged one on (BDP-FC, IRN §3.2). An integer, at least 1 and at most
   * `reorderPackets`. Undefined, the default: the bandwidth-delay product of the path, in packets.
   */
  readonly bdpPackets?: number
  /** Packets that a receiver keeps track of ahead of the one it expects; those further ahead are dropped. Default 2048. */
  readonly reorderPackets: number
  /**
   * RTO_high, ps: how long to wait for an acknowledgement with more than `ackTimeoutFewPackets` in flight; with no more,
   * it is `ackTimeoutPs`, which is RTO_low (IRN §3.1). At least that. Default 320 µs (IRN §4.1), or `ackTimeoutPs`.
   */
  readonly ackTimeoutHighPs: Time
  /** N of IRN §3.1. An integer, at least 0. Default 3 (IRN §4.1). */
  readonly ackTimeoutFewPackets: number
  /**
   * A gap is told of by one NAK (IBTA vol. 1, ch. 9); another for the same gap only after this long, ps. Default
   * NEVER: just one, and a NAK lost is the timeout's affair. The ns-3 model: 500 µs.
   */
  readonly nakIntervalPs: Time
  /**
   * Answer every duplicate with an acknowledgement (IBTA vol. 1, ch. 9), the default; false: only those sent again
   * after a timeout.
   */
  readonly ackDuplicates: boolean
  /**
   * Without progress for this long, ps, the requester goes back to the oldest unacknowledged packet. It counts from the
   * last progress, or from the first packet sent after there was nothing out. Default `localAckTimeoutPs(14)`, 67 ms;
   * with selective repeat 100 µs (IRN §4.1). NEVER: it never does.
   */
  readonly ackTimeoutPs: Time
  /** Timeouts in a row that are survived; the next one is the connection's end. An integer. Default 7 (IBTA, 3 bits). */
  readonly retryCount: number
  /** ECN code point of data packets. Default: capable where the controller needs `ecn` or `cnp`. */
  readonly ecn: number
  /** Time a packet of this size takes at this rate, ps. Default exact, rounded to a picosecond. */
  readonly pacePs: (bytes: number, rateBps: number) => Time
  /** A rate change moves the moment the next packet may leave, the default; false: it holds from the packet after. */
  readonly repace: boolean
  /** Packets are paced at the controller's rate, the default; false: at line rate (the ns-3 key RATE_BOUND 0). */
  readonly rateBound: boolean
}

/** `RcConfig` with defaults: only the controller has none. */
export type RcOptions = Pick<RcConfig, "controller"> & Partial<Omit<RcConfig, "controller">>

/** An option, or a command, that a reliable connection cannot work with. */
export class RcOptionsError extends OptionError {
  readonly _tag = "RcOptionsError"
  override readonly name = "RcOptionsError"

  constructor(option: string, value: unknown, expected: string) {
    super("reliable connection", option, value, expected)
  }
}

/** Throws `RcOptionsError` unless the value is legal. */
export const { check } = optionChecks(RcOptionsError)

/** Throws `RcOptionsError` unless the value is a whole number of at least `least`. */
export const checkInteger = (option: string, value: number, least: number): void =>
  check(option, value, Number.isSafeInteger(value) && value >= least, `an integer of at least ${least}`)

/** Throws `RcOptionsError` unless the value is a number, and legal. */
export const checkTime = (option: string, value: Time, legal: boolean, expected: string): void =>
  check(option, value, typeof value === "number" && legal, expected)

/**
 * Local ACK Timeout of a queue pair, ps: 4.096 µs · 2^code; code 0 is NEVER (IBTA 1.7 §9.7.6.1.3).
 * @param code an integer, 0 to 31
 */
export const localAckTimeoutPs = (code: number): Time => {
  check("timeout code", code, Number.isInteger(code) && code >= 0 && code <= 31, "an integer from 0 to 31")
  return code === 0 ? NEVER : 4_096_000 * 2 ** code
}

/** Telemetry hops that the default framing has room for (HPCC §4.1). */
const HOPS = 5

/** RTO_low, RTO_high and N of IRN §4.1, ps. */
const RTO_LOW_PS = 100e6
const RTO_HIGH_PS = 320e6
const FEW_PACKETS = 3
const REORDER_PACKETS = 2048
const REORDER_PACKETS_MAX = 2 ** 20

/** Fills in what is left out. Throws `RcOptionsError` at the first option that is out of its range. */
export const rcConfig = (options: RcOptions): RcConfig => {
  check("options", options, hasFields(options), "an object")
  checkFactory(check, options.controller)
  const { needs } = options.controller
  const selective = options.recovery === "selective-repeat"
  const telemetry = options.telemetry ?? needs.includes("int")
  const config: RcConfig = {
    mtuBytes: 1024,
    framing: rocev2Framing(telemetry ? "int" : needs.includes("pint") ? "pint" : "none", HOPS),
    telemetry,
    ackEvery: 1,
    nakIntervalPs: NEVER,
    ackDuplicates: true,
    recovery: "go-back-n",
    reorderPackets: REORDER_PACKETS,
    ackTimeoutPs: selective ? RTO_LOW_PS : localAckTimeoutPs(14),
    ackTimeoutHighPs: selective ? Math.max(RTO_HIGH_PS, options.ackTimeoutPs ?? 0) : RTO_HIGH_PS,
    ackTimeoutFewPackets: FEW_PACKETS,
    retryCount: 7,
    ecn: needs.includes("ecn") || needs.includes("cnp") ? Ecn.Capable0 : Ecn.NotCapable,
    pacePs: serializationPs,
    repace: true,
    rateBound: true,
    ...options,
  }
  checkInteger("mtuBytes", config.mtuBytes, 1)
  checkFraming(check, config.framing)
  checkInteger("ackEvery", config.ackEvery, 1)
  const { ns3AckBytes = 0, ns3AckChunkBytes = 0 } = config
  checkInteger("ns3AckBytes", ns3AckBytes, 0)
  checkInteger("ns3AckChunkBytes", ns3AckChunkBytes, 0)
  checkTime("nakIntervalPs", config.nakIntervalPs, config.nakIntervalPs >= 0, "a time of at least 0, or NEVER")
  checkTime("ackTimeoutPs", config.ackTimeoutPs, config.ackTimeoutPs > 0, "a time above 0, or NEVER")
  checkInteger("retryCount", config.retryCount, 0)
  checkRecovery(config)
  check("ecn", config.ecn, [0, 1, 2, 3].includes(config.ecn), "a code point, 0 to 3")
  for (const option of ["telemetry", "ackDuplicates", "repace", "rateBound"] as const)
    check(option, config[option], typeof config[option] === "boolean", "true or false")
  check("pacePs", config.pacePs, typeof config.pacePs === "function", "a function of bytes and a rate")
  return config
}

const recoveries: ReadonlyArray<RcConfig["recovery"]> = ["go-back-n", "selective-repeat", "go-back-0", "timeout"]

const checkRecovery = (config: RcConfig): void => {
  const {
    recovery,
    ns3BackToZero = false,
    ns3GoBack = false,
    ns3AckChunkBytes = 0,
    mtuBytes,
    bdpPackets,
    reorderPackets,
  } = config
  check("recovery", recovery, recoveries.includes(recovery), recoveries.join(" or "))
  const { restartBytes } = config
  if (restartBytes !== undefined) {
    check("restartBytes", restartBytes, recovery === "go-back-0", "given with go-back-0 alone")
    const whole = Number.isSafeInteger(restartBytes) && restartBytes > 0 && restartBytes % mtuBytes === 0
    check("restartBytes", restartBytes, whole, `a multiple of mtuBytes, ${mtuBytes}`)
  }
  check("ns3BackToZero", ns3BackToZero, typeof ns3BackToZero === "boolean", "true or false")
  check("ns3GoBack", ns3GoBack, typeof ns3GoBack === "boolean", "true or false")
  if (ns3GoBack) check("ns3GoBack", ns3GoBack, recovery === "go-back-n", "false unless recovery is go-back-n")
  if (ns3BackToZero) {
    check("ns3BackToZero", ns3BackToZero, recovery === "go-back-n", "false unless recovery is go-back-n")
    const whole = ns3AckChunkBytes > 0 && ns3AckChunkBytes % mtuBytes === 0
    check("ns3AckChunkBytes", ns3AckChunkBytes, whole, `a multiple of mtuBytes, ${mtuBytes}, with ns3BackToZero`)
  }
  checkInteger("reorderPackets", reorderPackets, 1)
  check("reorderPackets", reorderPackets, reorderPackets <= REORDER_PACKETS_MAX, `at most ${REORDER_PACKETS_MAX}`)
  if (bdpPackets !== undefined) {
    checkInteger("bdpPackets", bdpPackets, 1)
    check("bdpPackets", bdpPackets, bdpPackets <= reorderPackets, `at most reorderPackets, ${reorderPackets}`)
  }
  const { ackTimeoutHighPs, ackTimeoutPs } = config
  const reached = recovery !== "selective-repeat" || ackTimeoutHighPs >= ackTimeoutPs
  checkTime("ackTimeoutHighPs", ackTimeoutHighPs, ackTimeoutHighPs > 0 && reached, "a time of at least ackTimeoutPs")
  checkInteger("ackTimeoutFewPackets", config.ackTimeoutFewPackets, 0)
}
