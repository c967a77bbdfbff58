import type { HpccNs3Options, HpccPaperOptions } from "./HpccOptions.ts"

/** Published settings, by name. */
export const hpccPresets = {
  /** HPCC §5.1. */
  paper: { variant: "paper", eta: 0.95, maxStage: 5, additiveIncreaseBytes: 80, reaction: "both" },
  /** What the paper's simulations ran with; the authors call maxStage 5 a typo there (their results page). */
  simulation: { variant: "paper", eta: 0.95, maxStage: 0, additiveIncreaseBytes: 80, reaction: "both" },
  /** The authors' later advice (their results page): a higher target, and a multiplicative step every time. */
  "later-advice": { variant: "paper", eta: 0.99, maxStage: 0, additiveIncreaseBytes: 80, reaction: "both" },
  /** The reference simulator as its run.py starts it with `--cc hp --hpai 50`: 50 Mb/s is 80 bytes in 13 µs. */
  "ns3-config": {
    variant: "ns3",
    eta: 0.95,
    maxStage: 0,
    additiveIncreaseBps: 50e6,
    minRateBps: 1e9,
    reaction: "both",
    multiRate: false,
    sampleFeedback: false,
    varWin: true,
  },
} as const satisfies Readonly<Record<string, HpccPaperOptions | HpccNs3Options>>
