import { describe, expect, it } from "vitest"
import { type DcqcnOptions, DcqcnOptionsError, dcqcn, dcqcnPresets } from "../src/index.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("dcqcn, options", () => {
  it("names the variant, and needs marks or CNPs", () => {
    for (const variant of ["paper", "vendor", "ns3"] as const) {
      expect(dcqcn({ variant })).toMatchObject({ name: `dcqcn/${variant}`, needs: ["ecn"] })
      expect(dcqcn({ variant, notification: "cnp" }).needs).toEqual(["cnp"])
    }
  })

  const wrong: ReadonlyArray<readonly [string, DcqcnOptions]> = [
    ["variant", { variant: "mlx" as "ns3" }],
    ["window", { variant: "paper", window: "bdp" as "fixed" }],
    ["notification", { variant: "paper", notification: "ecn" as "echo" }],
    ["order", { variant: "ns3", order: "alpha" as "alpha-first" }],
    ["cnpIntervalPs", { variant: "vendor", cnpIntervalPs: -1 }],
    ["gain", { variant: "paper", gain: 0 }],
    ["gain", { variant: "paper", gain: 1.1 }],
    ["initialAlpha", { variant: "paper", initialAlpha: Number.NaN }],
    ["alphaTimerPs", { variant: "paper", alphaTimerPs: 0 }],
    ["rpTimerPs", { variant: "ns3", rpTimerPs: 999 }],
    ["increaseTimerPs", { variant: "paper", increaseTimerPs: Infinity }],
    ["byteCounterBytes", { variant: "paper", byteCounterBytes: -1 }],
    ["fastRecoverySteps", { variant: "paper", fastRecoverySteps: 1.5 }],
    ["additiveIncreaseBps", { variant: "paper", additiveIncreaseBps: -1 }],
    ["hyperIncreaseBps", { variant: "paper", hyperIncreaseBps: Infinity }],
    ["minRateBps", { variant: "paper", minRateBps: 0 }],
    ["dceTcpG", { variant: "vendor", dceTcpG: 1024 }],
    ["dceTcpRttPs", { variant: "vendor", dceTcpRttPs: 0 }],
    ["initialAlphaValue", { variant: "vendor", initialAlphaValue: 1025 }],
    ["rateToSetOnFirstCnpBps", { variant: "vendor", rateToSetOnFirstCnpBps: -1 }],
    ["firstCnpRateFactor", { variant: "vendor", firstCnpRateFactor: 0 }],
    ["rateReduceMonitorPeriodPs", { variant: "vendor", rateReduceMonitorPeriodPs: 0 }],
    ["rpgMinDecFac", { variant: "vendor", rpgMinDecFac: 101 }],
    ["rpgGd", { variant: "vendor", rpgGd: 12 }],
    ["rpgMinRateBps", { variant: "vendor", rpgMinRateBps: 0 }],
    ["rpgMaxRateBps", { variant: "vendor", rpgMaxRateBps: Number.NaN }],
    ["rpgTimeResetPs", { variant: "vendor", rpgTimeResetPs: 0 }],
    ["rpgByteResetBytes", { variant: "vendor", rpgByteResetBytes: -1 }],
    ["rpgThreshold", { variant: "vendor", rpgThreshold: -1 }],
    ["rpgAiRateBps", { variant: "vendor", rpgAiRateBps: -1 }],
    ["rpgHaiRateBps", { variant: "vendor", rpgHaiRateBps: -1 }],
    ["clampTgtRate", { variant: "vendor", clampTgtRate: "yes" as unknown as boolean }],
    ["clampTgtRateAfterTimeInc", { variant: "vendor", clampTgtRateAfterTimeInc: "no" as unknown as boolean }],
    ["clampTargetRate", { variant: "ns3", clampTargetRate: "no" as unknown as boolean }],
    ["ewmaGain", { variant: "ns3", ewmaGain: 2 }],
    ["alphaResumeIntervalPs", { variant: "ns3", alphaResumeIntervalPs: 0 }],
    ["rateDecreaseIntervalPs", { variant: "ns3", rateDecreaseIntervalPs: 0 }],
    ["rpTimerPs", { variant: "ns3", rpTimerPs: 0 }],
    ["fastRecoveryTimes", { variant: "ns3", fastRecoveryTimes: -1 }],
    ["rateOnFirstCnp", { variant: "ns3", rateOnFirstCnp: 1.5 }],
    ["additiveIncreaseBps", { variant: "ns3", additiveIncreaseBps: 0.5 }],
    ["hyperIncreaseBps", { variant: "ns3", hyperIncreaseBps: -1 }],
    ["minRateBps", { variant: "ns3", minRateBps: 0 }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => dcqcn(options))
    expect(error).toBeInstanceOf(DcqcnOptionsError)
    expect(error).toMatchObject({ _tag: "DcqcnOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => dcqcn({ ...options, [option]: value } as DcqcnOptions))
      expect(error).toBeInstanceOf(DcqcnOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => dcqcn(options as unknown as DcqcnOptions))
      expect(error).toBeInstanceOf(DcqcnOptionsError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => dcqcn(null as unknown as DcqcnOptions))).toMatchObject({
      message: "dcqcn: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate", () => {
    const factory = dcqcn({ variant: "paper" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
  })

  it("every preset is valid, and starts at line rate", () => {
    for (const preset of Object.values(dcqcnPresets)) expect(dcqcn(preset).make(0, path).rate).toBe(100e9)
  })

  it("a window only where the path gives one", () => {
    for (const window of ["none", "fixed", "variable"] as const) {
      for (const variant of ["paper", "vendor", "ns3"] as const) {
        const controller = dcqcn({ variant, window }).make(0, { ...path, windowBytes: 0 })
        controller.onCnp(0)
        expect(controller.window).toBe(Infinity)
      }
    }
  })

  it("a line slower than the least rate lowers it", () => {
    for (const variant of ["paper", "vendor", "ns3"] as const) {
      const controller = dcqcn({ variant }).make(0, { ...path, lineRateBps: 1e6 })
      for (let i = 0; i < 100; i++) controller.onCnp(i * 100e6)
      expect(controller.rate).toBeLessThanOrEqual(1e6)
    }
  })

  it("flows of several line rates each have their own settings", () => {
    const factory = dcqcn({ variant: "ns3" })
    const rates = [100e9, 25e9, 100e9].map((lineRateBps) => factory.make(0, { ...path, lineRateBps }).rate)
    expect(rates).toEqual([100e9, 25e9, 100e9])
  })
})
