import { describe, expect, it } from "vitest"
import { type SwiftOptions, SwiftOptionsError, swift, swiftPresets } from "../src/index.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("swift, options", () => {
  it("names the variant and needs RTTs", () => {
    for (const options of [{ variant: "paper" }, {}] as const) {
      expect(swift(options)).toMatchObject({ name: "swift/paper", needs: ["rtt"] })
    }
  })

  const wrong: ReadonlyArray<readonly [string, Partial<SwiftOptions>]> = [
    ["variant", { variant: "falcon" as "paper" }],
    ["baseTargetPs", { baseTargetPs: 0 }],
    ["baseTargetPs", { baseTargetPs: Number.NaN }],
    ["hopScalePs", { hopScalePs: -1 }],
    ["hops", { hops: Infinity }],
    ["flowScalingRangePs", { flowScalingRangePs: -1 }],
    ["flowScalingMinPackets", { flowScalingMinPackets: 0 }],
    ["flowScalingMaxPackets", { flowScalingMinPackets: 4, flowScalingMaxPackets: 4 }],
    ["flowScalingMaxPackets", { flowScalingMinPackets: 200 }],
    ["additiveIncreasePackets", { additiveIncreasePackets: 0 }],
    ["beta", { beta: 1.1 }],
    ["beta", { beta: 0 }],
    ["maxMdf", { maxMdf: 1 }],
    ["minWindowPackets", { minWindowPackets: 0 }],
    ["maxWindowPackets", { minWindowPackets: 2, maxWindowPackets: 1 }],
    ["initialWindowPackets", { initialWindowPackets: -1 }],
    ["resetAfter", { resetAfter: 0.5 }],
    ["endpointTargetPs", { endpointTargetPs: 0 }],
    ["endpointDelayPs", { endpointDelayPs: 5 as unknown as () => number }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => swift({ variant: "paper", ...options }))
    expect(error).toBeInstanceOf(SwiftOptionsError)
    expect(error).toMatchObject({ _tag: "SwiftOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => swift({ variant: "paper", ...options, [option]: value } as SwiftOptions))
      expect(error).toBeInstanceOf(SwiftOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => swift(options as unknown as SwiftOptions))
      expect(error).toBeInstanceOf(SwiftOptionsError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => swift(null as unknown as SwiftOptions))).toMatchObject({
      message: "swift: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate or a base RTT", () => {
    const factory = swift({ variant: "paper" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => factory.make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
    expect(failure(() => factory.make(0, { ...path, mtuBytes: Number.NaN }))).toMatchObject({ option: "mtuBytes" })
  })

  it("every preset is valid", () => {
    for (const preset of Object.values(swiftPresets)) expect(swift(preset).make(0, path).rate).toBe(100e9)
  })

  it("paths of two kinds have constants of their own", () => {
    const factory = swift({ variant: "paper" })
    const windows = [100_000, 50_000, 100_000].map((windowBytes) => factory.make(0, { ...path, windowBytes }).window)
    expect(windows).toEqual([100_000, 50_000, 100_000])
  })
})
