import type { SwiftOptions } from "./SwiftOptions.ts"

/** Settings by name. The paper publishes targets; the other constants of all three are htsim's. */
export const swiftPresets = {
  /** The paper's testbed: a base target of 25 µs. */
  testbed: { variant: "paper", baseTargetPs: 25e6 },
  /** The paper's production clusters: 50 µs for the fabric, 100 µs for the engines at the ends. */
  production: { variant: "paper", baseTargetPs: 50e6, endpointTargetPs: 100e6 },
  /** htsim's swift.cpp, written out. */
  htsim: {
    variant: "paper",
    baseTargetPs: 20e6,
    hopScalePs: 20e6 / 6.55,
    flowScalingRangePs: 100e6,
    flowScalingMinPackets: 0.1,
    flowScalingMaxPackets: 100,
    additiveIncreasePackets: 1,
    beta: 0.8,
    maxMdf: 0.5,
    maxWindowPackets: 1000,
    resetAfter: 5,
  },
} as const satisfies Readonly<Record<string, SwiftOptions>>
