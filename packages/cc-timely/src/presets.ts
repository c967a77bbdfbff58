import type { TimelyNs3Options, TimelyPaperOptions, TimelyPatchedOptions } from "./TimelyOptions.ts"

/** Published settings, by name. */
export const timelyPresets = {
  /** TIMELY §4.3, for NICs of 10 Gb/s; α as in ECN or Delay. */
  paper: {
    variant: "paper",
    alpha: 0.875,
    beta: 0.8,
    lowThresholdPs: 50e6,
    highThresholdPs: 500e6,
    minRttPs: 20e6,
    additiveIncreaseBps: 10e6,
    segmentBytes: 65_536,
  },
  /** HPCC's comparisons: run.py's `timely`. The steps scale with the line rate, 100 and 500 Mb/s at 100 Gb/s. */
  simulation: {
    variant: "ns3",
    alpha: 0.875,
    beta: 0.8,
    lowThresholdPs: 50e6,
    highThresholdPs: 500e6,
    minRttPs: 20e6,
    minRateBps: 1e9,
    window: "none",
  },
  /** The same with a window that follows the rate: run.py's `timely_vwin`, TIMELY+win in HPCC §5.1. */
  "simulation+w": {
    variant: "ns3",
    alpha: 0.875,
    beta: 0.8,
    lowThresholdPs: 50e6,
    highThresholdPs: 500e6,
    minRttPs: 20e6,
    minRateBps: 1e9,
    window: "variable",
  },
  /** eRPC with the patch switched on, its constants those of "ECN or Delay". */
  patched: {
    variant: "patched",
    law: "patched",
    alpha: 0.875,
    beta: 0.008,
    lowThresholdPs: 50e6,
    highThresholdPs: 1000e6,
    minRttPs: 2e6,
    additiveIncreaseBps: 40e6,
    minRateBps: 120e6,
  },
  /** eRPC as it ships: the patch switched off, α and β found by a sweep. */
  erpc: {
    variant: "patched",
    law: "gradient",
    alpha: 0.46,
    beta: 0.26,
    lowThresholdPs: 50e6,
    highThresholdPs: 1000e6,
    minRttPs: 2e6,
    additiveIncreaseBps: 40e6,
    minRateBps: 120e6,
  },
} as const satisfies Readonly<Record<string, TimelyPaperOptions | TimelyNs3Options | TimelyPatchedOptions>>
