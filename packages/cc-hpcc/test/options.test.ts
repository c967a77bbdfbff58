import { describe, expect, it } from "vitest"
import { additiveIncreaseBytes, type HpccOptions, HpccOptionsError, hpcc, hpccPresets } from "../src/index.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("hpcc, options", () => {
  it("names the variant and needs INT", () => {
    expect(hpcc({ variant: "paper" })).toMatchObject({ name: "hpcc/paper", needs: ["int"] })
    expect(hpcc({ variant: "ns3" })).toMatchObject({ name: "hpcc/ns3", needs: ["int"] })
  })

  const wrong: ReadonlyArray<readonly [string, HpccOptions]> = [
    ["eta", { variant: "paper", eta: 0 }],
    ["eta", { variant: "ns3", eta: -0.95 }],
    ["eta", { variant: "ns3", eta: Number.NaN }],
    ["eta", { variant: "paper", eta: Infinity }],
    ["maxStage", { variant: "paper", maxStage: -1 }],
    ["maxStage", { variant: "ns3", maxStage: 0.5 }],
    ["reaction", { variant: "paper", reaction: "never" as "both" }],
    ["variant", { variant: "hpcc++" as "paper" }],
    ["additiveIncreaseBytes", { variant: "paper", additiveIncreaseBytes: -80 }],
    ["minWindowBytes", { variant: "paper", minWindowBytes: 0 }],
    ["additiveIncreaseBps", { variant: "ns3", additiveIncreaseBps: -1 }],
    ["additiveIncreaseBps", { variant: "ns3", additiveIncreaseBps: 0.5 }],
    ["minRateBps", { variant: "ns3", minRateBps: 0 }],
    ["multiRate", { variant: "ns3", multiRate: "no" as unknown as boolean }],
    ["sampleFeedback", { variant: "ns3", sampleFeedback: "no" as unknown as boolean }],
    ["varWin", { variant: "ns3", varWin: "no" as unknown as boolean }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => hpcc(options))
    expect(error).toBeInstanceOf(HpccOptionsError)
    expect(error).toMatchObject({ _tag: "HpccOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => hpcc({ ...options, [option]: value } as HpccOptions))
      expect(error).toBeInstanceOf(HpccOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => hpcc(options as unknown as HpccOptions))
      expect(error).toBeInstanceOf(HpccOptionsError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => hpcc(null as unknown as HpccOptions))).toMatchObject({
      message: "hpcc: options is null, expected an object",
    })
  })

  it("refuses a path that it would divide by", () => {
    const factory = hpcc({ variant: "ns3" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => factory.make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
  })

  it("takes η above 1, which asks for a standing queue", () => {
    expect(hpcc({ variant: "paper", eta: 1.5 }).make(0, path).rate).toBe(100e9)
  })

  it("every preset is valid", () => {
    for (const preset of Object.values(hpccPresets)) expect(hpcc(preset).make(0, path).rate).toBe(100e9)
  })

  it("W_AI = W_init (1 − η) / N", () => {
    // HPCC §5.4: 100 Gb/s · 4 µs = 50,000 bytes, 5 % of it for 16 flows: 156.25, the paper's bound of 150.
    expect(additiveIncreaseBytes(50_000, 0.95, 16)).toBeCloseTo(156.25, 10)
    const wrong = [
      () => additiveIncreaseBytes(0, 0.95, 1),
      () => additiveIncreaseBytes(1000, 1, 1),
      () => additiveIncreaseBytes(1000, 0.95, 0),
      () => additiveIncreaseBytes("1000" as unknown as number, 0.95, 1),
    ]
    for (const each of wrong) expect(failure(each)).toBeInstanceOf(HpccOptionsError)
  })
})
