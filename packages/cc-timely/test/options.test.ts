import { describe, expect, it } from "vitest"
import { type TimelyOptions, TimelyOptionsError, timely, timelyPresets } from "../src/index.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("timely, options", () => {
  it("names the variant and needs RTTs", () => {
    for (const variant of ["paper", "ns3", "patched"] as const) {
      expect(timely({ variant })).toMatchObject({ name: `timely/${variant}`, needs: ["rtt"] })
    }
  })

  const wrong: ReadonlyArray<readonly [string, TimelyOptions]> = [
    // B40: the gradient is divided by it.
    ["minRttPs", { variant: "paper", minRttPs: 0 }],
    ["minRttPs", { variant: "ns3", minRttPs: 0 }],
    ["minRttPs", { variant: "patched", minRttPs: -1 }],
    ["alpha", { variant: "paper", alpha: 0 }],
    ["alpha", { variant: "ns3", alpha: 1.1 }],
    ["beta", { variant: "ns3", beta: Number.NaN }],
    ["beta", { variant: "patched", beta: 2 }],
    ["lowThresholdPs", { variant: "ns3", lowThresholdPs: -1 }],
    ["lowThresholdPs", { variant: "patched", lowThresholdPs: 0 }],
    ["highThresholdPs", { variant: "paper", lowThresholdPs: 50e6, highThresholdPs: 50e6 }],
    ["highThresholdPs", { variant: "paper", lowThresholdPs: 600e6 }],
    ["window", { variant: "paper", window: "bdp" as "fixed" }],
    ["variant", { variant: "swift" as "paper" }],
    ["additiveIncreaseBps", { variant: "paper", additiveIncreaseBps: -1 }],
    ["additiveIncreaseBps", { variant: "ns3", additiveIncreaseBps: 0.5 }],
    ["hyperIncreaseBps", { variant: "ns3", hyperIncreaseBps: -1 }],
    ["minRateBps", { variant: "ns3", minRateBps: 0 }],
    ["minRateBps", { variant: "patched", minRateBps: 0 }],
    ["segmentBytes", { variant: "paper", segmentBytes: 0 }],
    ["hyperAfter", { variant: "paper", hyperAfter: 0 }],
    ["hyperFactor", { variant: "paper", hyperFactor: 0.5 }],
    ["leastFactor", { variant: "paper", leastFactor: 1 }],
    ["law", { variant: "patched", law: "none" as "patched" }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => timely(options))
    expect(error).toBeInstanceOf(TimelyOptionsError)
    expect(error).toMatchObject({ _tag: "TimelyOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => timely({ ...options, [option]: value } as TimelyOptions))
      expect(error).toBeInstanceOf(TimelyOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => timely(options as unknown as TimelyOptions))
      expect(error).toBeInstanceOf(TimelyOptionsError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => timely(null as unknown as TimelyOptions))).toMatchObject({
      message: "timely: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate", () => {
    const factory = timely({ variant: "ns3" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
  })

  it("every preset is valid", () => {
    for (const preset of Object.values(timelyPresets)) expect(timely(preset).make(0, path).rate).toBe(100e9)
  })

  it("a window only where the path gives one", () => {
    for (const window of ["none", "fixed", "variable"] as const) {
      expect(timely({ variant: "ns3", window }).make(0, { ...path, windowBytes: 0 }).window).toBe(Infinity)
    }
    expect(timely({ variant: "ns3", window: "none" }).make(0, path).window).toBe(Infinity)
  })

  it("a line slower than the least rate lowers it", () => {
    const controller = timely({ variant: "ns3" }).make(0, { ...path, lineRateBps: 100e6 })
    expect(controller.rate).toBe(100e6)
  })
})
