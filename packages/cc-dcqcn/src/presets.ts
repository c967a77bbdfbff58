import type { DcqcnNs3Options, DcqcnPaperOptions, DcqcnVendorOptions } from "./DcqcnOptions.ts"

/** What HPCC's run.py gives to all of its DCQCNs; the steps scale with the line rate, 20 and 200 Mb/s at 100 Gb/s. */
const simulation = {
  variant: "ns3",
  ewmaGain: 1 / 256,
  alphaResumeIntervalPs: 1e6,
  rateDecreaseIntervalPs: 4e6,
  rpTimerPs: 300e6,
  fastRecoveryTimes: 1,
  clampTargetRate: false,
  rateOnFirstCnp: 1,
  minRateBps: 1e9,
  window: "none",
} as const

/** The timers of the paper in that code: run.py's `dcqcn_paper`. */
const paperTimers = { alphaResumeIntervalPs: 50e6, rateDecreaseIntervalPs: 50e6, rpTimerPs: 55e6 } as const

/** Published settings, by name. */
export const dcqcnPresets = {
  /** DCQCN §3.1 and §5.2, for NICs of 40 Gb/s. */
  paper: {
    variant: "paper",
    gain: 1 / 256,
    initialAlpha: 1,
    alphaTimerPs: 55e6,
    increaseTimerPs: 55e6,
    byteCounterBytes: 10e6,
    fastRecoverySteps: 5,
    additiveIncreaseBps: 40e6,
    hyperIncreaseBps: 200e6,
    cnpIntervalPs: 50e6,
    order: "cut-first",
  },
  /** What ConnectX adapters come with. */
  vendor: {
    variant: "vendor",
    dceTcpG: 1019,
    dceTcpRttPs: 1e6,
    initialAlphaValue: 1023,
    rateToSetOnFirstCnpBps: 0,
    firstCnpRateFactor: 0.85,
    rateReduceMonitorPeriodPs: 4e6,
    rpgMinDecFac: 50,
    rpgGd: 11,
    rpgMinRateBps: 1e6,
    rpgMaxRateBps: 0,
    rpgTimeResetPs: 300e6,
    rpgByteResetBytes: 2_097_088,
    rpgThreshold: 1,
    rpgAiRateBps: 5e6,
    rpgHaiRateBps: 50e6,
    clampTgtRate: false,
    clampTgtRateAfterTimeInc: true,
    cnpIntervalPs: 4e6,
  },
  /** HPCC's comparisons: run.py's `dcqcn`. */
  simulation,
  /** The same with a window that follows the rate: run.py's `dcqcn_vwin`, DCQCN+win in HPCC §5.1. */
  "simulation+w": { ...simulation, window: "variable" },
  /** run.py's `dcqcn_paper`. */
  "simulation-paper": { ...simulation, ...paperTimers },
  /** run.py's `dcqcn_paper_vwin`. */
  "simulation-paper+w": { ...simulation, ...paperTimers, window: "variable" },
} as const satisfies Readonly<Record<string, DcqcnPaperOptions | DcqcnVendorOptions | DcqcnNs3Options>>
