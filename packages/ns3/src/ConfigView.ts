import { ns3Nanoseconds } from "@rdmakit/units"
import { type CcMode, configKeys } from "./ConfigKey.ts"

/** One link that goes down for good. */
export interface LinkDown {
  /** After 2 s of simulated time, as the original counts it. */
  readonly afterPs: number
  readonly a: number
  readonly b: number
}

/** A value as read: switches are booleans, rates bits/s, times picoseconds, everything else in its key's own unit. */
export type ConfigValue = boolean | number | string | ReadonlyMap<number, number> | LinkDown

/**
 * A config in rdmakit's units: every key of the original, with the original's default where the file is silent.
 * Paths are as written; what they are relative to is the reader's business. Where the original truncates, so does this.
 */
export interface Ns3Config {
  readonly ccMode: CcMode
  readonly topologyFile: string
  readonly flowFile: string
  /** "" for none, as for each output below but the two that have a default. */
  readonly traceFile: string
  readonly traceOutputFile: string
  readonly fctOutputFile: string
  readonly pfcOutputFile: string
  readonly qlenMonitorFile: string
  readonly traceEnabled: boolean
  readonly qlenMonitorStartNs: number
  readonly qlenMonitorEndNs: number

  /** The end of the run: as written, exactly, and as the original's arithmetic has it. */
  readonly stopSeconds: number
  readonly stopPs: number
  readonly stopNs: number

  readonly payloadBytes: number
  readonly l2ChunkBytes: number
  /** Bytes received before ACKs begin; then each packet has one. 0: the original never takes an ACK. */
  readonly l2AckIntervalBytes: number
  readonly l2BackToZero: boolean
  /** Loss rate of links that have none of their own. */
  readonly errorRatePerLink: number
  readonly linkDown: LinkDown | undefined
  readonly ackHighPriority: boolean

  readonly hasWindow: boolean
  readonly globalT: boolean
  readonly varWindow: boolean
  readonly rateBound: boolean
  readonly minRateBps: number
  readonly rateAiBps: number
  readonly rateHaiBps: number

  /** DCQCN. Whole microseconds, as the original truncates them. */
  readonly alphaResumeIntervalPs: number
  readonly rateDecreaseIntervalPs: number
  readonly rpTimerPs: number
  readonly ewmaGain: number
  readonly fastRecoveryTimes: number
  readonly clampTargetRate: boolean
  readonly dctcpRateAiBps: number

  /** HPCC and HPCC-PINT. */
  readonly fastReact: boolean
  readonly targetUtilisation: number
  readonly miThreshold: number
  readonly intMulti: number
  readonly multiRate: boolean
  readonly sampleFeedback: boolean
  readonly pintLogBase: number
  readonly pintProbability: number

  /** Switches. The ECN maps go from a line rate in bits/s to bytes, bytes and a probability. */
  readonly ecnEnabled: boolean
  readonly kminBytes: ReadonlyMap<number, number>
  readonly kmaxBytes: ReadonlyMap<number, number>
  readonly pmax: ReadonlyMap<number, number>
  /** Per switch. */
  readonly bufferBytes: number
  /** Written into PFC frames; nothing waits for it. */
  readonly pauseTimeUs: number

  /** rdmakit's own: 0 switches it off. */
  readonly tailLossTimeoutPs: number

  /** No effect in the original. undefined when absent. */
  readonly useDynamicPfcThreshold: boolean
  readonly dataRateBps: number | undefined
  readonly linkDelayPs: number | undefined
}

const PS_PER_US = 1e6

/** The typed view of the values of a file; `values` holds one for every key that has one. */
export const viewOf = (values: ReadonlyMap<string, ConfigValue>): Ns3Config => {
  const flag = (key: string) => values.get(key) as boolean
  const number = (key: string) => values.get(key) as number
  const text = (key: string) => values.get(key) as string
  const map = (key: string, factor: number): ReadonlyMap<number, number> =>
    new Map(Array.from(values.get(key) as ReadonlyMap<number, number>, ([rateBps, value]) => [rateBps, value * factor]))
  const wholeUsAsPs = (key: string) => Math.trunc(number(key)) * PS_PER_US
  const optional = (key: string) => {
    const value = values.get(key)
    return typeof value === "number" ? value : undefined
  }
  const stopSeconds = number("SIMULATOR_STOP_TIME")
  const linkDown = values.get("LINK_DOWN") as LinkDown
  return {
    ccMode: number("CC_MODE") as CcMode,
    topologyFile: text("TOPOLOGY_FILE"),
    flowFile: text("FLOW_FILE"),
    traceFile: text("TRACE_FILE"),
    traceOutputFile: text("TRACE_OUTPUT_FILE"),
    fctOutputFile: text("FCT_OUTPUT_FILE"),
    pfcOutputFile: text("PFC_OUTPUT_FILE"),
    qlenMonitorFile: text("QLEN_MON_FILE"),
    traceEnabled: flag("ENABLE_TRACE"),
    qlenMonitorStartNs: number("QLEN_MON_START"),
    qlenMonitorEndNs: number("QLEN_MON_END"),
    stopSeconds,
    stopPs: Math.round(stopSeconds * 1e12),
    stopNs: ns3Nanoseconds(stopSeconds),
    payloadBytes: number("PACKET_PAYLOAD_SIZE"),
    l2ChunkBytes: number("L2_CHUNK_SIZE"),
    l2AckIntervalBytes: number("L2_ACK_INTERVAL"),
    l2BackToZero: flag("L2_BACK_TO_ZERO"),
    errorRatePerLink: number("ERROR_RATE_PER_LINK"),
    linkDown: linkDown.afterPs === 0 ? undefined : linkDown,
    ackHighPriority: flag("ACK_HIGH_PRIO"),
    hasWindow: flag("HAS_WIN"),
    globalT: flag("GLOBAL_T"),
    varWindow: flag("VAR_WIN"),
    rateBound: flag("RATE_BOUND"),
    minRateBps: number("MIN_RATE"),
    rateAiBps: number("RATE_AI"),
    rateHaiBps: number("RATE_HAI"),
    alphaResumeIntervalPs: wholeUsAsPs("ALPHA_RESUME_INTERVAL"),
    rateDecreaseIntervalPs: wholeUsAsPs("RATE_DECREASE_INTERVAL"),
    rpTimerPs: wholeUsAsPs("RP_TIMER"),
    ewmaGain: number("EWMA_GAIN"),
    fastRecoveryTimes: number("FAST_RECOVERY_TIMES"),
    clampTargetRate: flag("CLAMP_TARGET_RATE"),
    dctcpRateAiBps: number("DCTCP_RATE_AI"),
    fastReact: flag("FAST_REACT"),
    targetUtilisation: number("U_TARGET"),
    miThreshold: number("MI_THRESH"),
    intMulti: number("INT_MULTI"),
    multiRate: flag("MULTI_RATE"),
    sampleFeedback: flag("SAMPLE_FEEDBACK"),
    pintLogBase: number("PINT_LOG_BASE"),
    pintProbability: number("PINT_PROB"),
    ecnEnabled: flag("ENABLE_QCN"),
    kminBytes: map("KMIN_MAP", 1000),
    kmaxBytes: map("KMAX_MAP", 1000),
    pmax: map("PMAX_MAP", 1),
    bufferBytes: number("BUFFER_SIZE") * 1024 * 1024,
    pauseTimeUs: Math.trunc(number("PAUSE_TIME")),
    tailLossTimeoutPs: Math.round(number("TAIL_LOSS_TIMEOUT") * PS_PER_US),
    useDynamicPfcThreshold: flag("USE_DYNAMIC_PFC_THRESHOLD"),
    dataRateBps: optional("DATA_RATE"),
    linkDelayPs: optional("LINK_DELAY"),
  }
}

/** Timers that DCQCN restarts when they fire: at 0 the original never leaves the instant. */
export const restartingTimers: ReadonlyArray<string> = ["ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "RP_TIMER"]

/** Keys whose fraction of a microsecond the original drops. */
export const wholeMicroseconds: ReadonlyArray<string> = ["PAUSE_TIME", ...restartingTimers]

export const requiredKeys: ReadonlyArray<string> = Array.from(configKeys.values())
  .filter((key) => key.default === undefined)
  .map((key) => key.key)
