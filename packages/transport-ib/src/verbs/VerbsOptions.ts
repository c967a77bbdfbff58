import { type ControllerFactory, checkFactory, hasFields, NEVER, type Time } from "@rdmakit/protocol"
import { check, checkInteger, checkTime } from "../RcConfig.ts"

/** How the engines of a verbs transport behave. Settings of one queue pair come with `modify`. */
export interface VerbsConfig {
  /**
   * What is sent again after a loss. "go-back-n", the default: all from the lost packet on (IBTA 1.7 §9.7).
   * "selective-repeat": only what is lost, as IRN has it (Mittal et al., SIGCOMM 2018, §3): both ends must have it. The
   * receiver keeps what comes out of order, and tells of it by NAKs.
   */
  readonly recovery: "go-back-n" | "selective-repeat"
  /** Congestion control of RC and UC. Undefined, the default: neither window nor pace. */
  readonly controller: ControllerFactory | undefined
  /**
   * A requester asks for an acknowledgement with the last packet of a message and every n-th in between. An integer, at
   * least 1. Default 64, as Linux rxe has it; 1 with a controller.
   */
  readonly ackEvery: number
  /**
   * Most packets of requests in flight, from the oldest unacknowledged one on; with selective repeat the cap of BDP-FC
   * (IRN §3.2). An integer, 1 to 2^22. Default 128, as Linux rxe has it.
   */
  readonly inFlightPackets: number
  /** Selective repeat: packets that a receiver keeps ahead of the one it expects. An integer, 1 to 2^16. Default 512. */
  readonly reorderPackets: number
  /**
   * Least time between two congestion notifications of a queue pair, ps. Default 50 µs (DCQCN §3.1). NEVER: marked
   * packets are not told of.
   */
  readonly cnpIntervalPs: Time
  /** Acknowledgements tell how many receives are posted (IBTA 1.7 §9.7.7.2). Default false, as Linux rxe has it. */
  readonly endToEndCredits: boolean
  /**
   * Without an acknowledgement for this long, ps, a requester sends again ahead of its timeout, then after twice as long,
   * and so on, as adapters with an adaptive timeout do; none of it counts as a retry. Default NEVER.
   */
  readonly earlyRetransmissionPs: Time
  /** Seeds what a controller draws. Default 0. */
  readonly seed: number
}

export type VerbsOptions = Partial<VerbsConfig>

const ACK_EVERY = 64
const IN_FLIGHT = 128
const REORDER = 512
const CNP_INTERVAL_PS = 50e6

/** Fills in what is left out. @throws RcOptionsError at the first option that is out of its range */
export const verbsConfig = (options: VerbsOptions): VerbsConfig => {
  check("options", options, hasFields(options), "an object")
  const config: VerbsConfig = {
    recovery: "go-back-n",
    controller: undefined,
    ackEvery: options.controller === undefined ? ACK_EVERY : 1,
    inFlightPackets: IN_FLIGHT,
    reorderPackets: REORDER,
    cnpIntervalPs: CNP_INTERVAL_PS,
    endToEndCredits: false,
    earlyRetransmissionPs: NEVER,
    seed: 0,
    ...options,
  }
  if (config.controller !== undefined) checkFactory(check, config.controller)
  const { recovery, inFlightPackets, reorderPackets } = config
  check("recovery", recovery, ["go-back-n", "selective-repeat"].includes(recovery), "go-back-n or selective-repeat")
  checkInteger("ackEvery", config.ackEvery, 1)
  checkInteger("inFlightPackets", inFlightPackets, 1)
  check("inFlightPackets", inFlightPackets, inFlightPackets <= 2 ** 22, "at most 2^22")
  checkInteger("reorderPackets", reorderPackets, 1)
  check("reorderPackets", reorderPackets, reorderPackets <= 2 ** 16, "at most 2^16")
  checkTime("cnpIntervalPs", config.cnpIntervalPs, config.cnpIntervalPs >= 0, "a time of at least 0, or NEVER")
  const { earlyRetransmissionPs } = config
  checkTime("earlyRetransmissionPs", earlyRetransmissionPs, earlyRetransmissionPs > 0, "a time above 0, or NEVER")
  const { endToEndCredits } = config
  check("endToEndCredits", endToEndCredits, typeof endToEndCredits === "boolean", "true or false")
  checkInteger("seed", config.seed, 0)
  return config
}
