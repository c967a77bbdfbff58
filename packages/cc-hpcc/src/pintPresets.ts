import type { HpccPintNs3Options, HpccPintPaperOptions } from "./HpccPintOptions.ts"

/** Published settings, by name. */
export const hpccPintPresets = {
  /** PINT's evaluation: HPCC's settings, 8 bits, every acknowledgement. */
  paper: {
    variant: "paper",
    eta: 0.95,
    maxStage: 0,
    additiveIncreaseBytes: 80,
    reaction: "both",
    logBase: 1.05,
    probability: 1,
  },
  /** The same with one acknowledgement in sixteen, which PINT's evaluation finds as good. */
  "one-in-16": {
    variant: "paper",
    eta: 0.95,
    maxStage: 0,
    additiveIncreaseBytes: 80,
    reaction: "both",
    logBase: 1.05,
    probability: 1 / 16,
  },
  /** The reference simulator as its run.py starts it with `--cc hpccPint --hpai 50`: a base of 1.01, 11 bits. */
  "ns3-config": {
    variant: "ns3",
    eta: 0.95,
    maxStage: 0,
    additiveIncreaseBps: 50e6,
    minRateBps: 1e9,
    varWin: true,
    logBase: 1.01,
    probability: 1,
  },
} as const satisfies Readonly<Record<string, HpccPintPaperOptions | HpccPintNs3Options>>
