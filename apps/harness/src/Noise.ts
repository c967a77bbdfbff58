import type { Metric } from "./Claim.ts"

/**
 * How far the public HPCC simulator (ns-3) is from itself, a share: the worst range of sizes on its 320-host fabric, with
 * other random seeds (DCQCN) or another order of events within a nanosecond (HPCC; pauses of TIMELY's 175 to 214). A
 * measured number that differs by less says nothing.
 */
export const noiseOf = (metric: Metric): number | undefined => {
  switch (metric.kind) {
    case "slowdown":
    case "completion":
      if (typeof metric.at !== "number") return metric.at === "mean" ? MEAN : undefined
      return metric.at >= 0.99 ? P99 : metric.at >= 0.9 ? P95 : P50
    case "paused":
      return PAUSES
    default:
      return undefined
  }
}

const MEAN = 0.002
const P50 = 0.01
const P95 = 0.12
const P99 = 0.33
const PAUSES = (214 - 175) / (214 + 175)
