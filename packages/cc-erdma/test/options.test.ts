import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { HpccFamilyError, type HpccFamilyOptions, hpccFamily } from "../src/index.ts"
import { layer } from "../src/layer.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("hpccFamily, options", () => {
  const wrong: ReadonlyArray<readonly [string, HpccFamilyOptions]> = [
    ["variant", { variant: "int" as "rtt" }],
    ["target", { variant: "rtt", target: 1 }],
    ["target", { variant: "ecn", target: Number.NaN }],
    ["additiveIncreaseBytes", { variant: "rtt", additiveIncreaseBytes: -1 }],
    ["minWindowBytes", { variant: "ecn", minWindowBytes: 0 }],
    ["slackPs", { variant: "rtt", slackPs: -1 }],
    ["markedUtilisation", { variant: "ecn", markedUtilisation: 1.1 }],
    ["markedUtilisation", { variant: "ecn", target: 2.5 }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => hpccFamily(options))
    expect(error).toBeInstanceOf(HpccFamilyError)
    expect(error).toMatchObject({ _tag: "HpccFamilyError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => hpccFamily({ ...options, [option]: value } as HpccFamilyOptions))
      expect(error).toBeInstanceOf(HpccFamilyError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => hpccFamily(options as unknown as HpccFamilyOptions))
      expect(error).toBeInstanceOf(HpccFamilyError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => hpccFamily(null as unknown as HpccFamilyOptions))).toMatchObject({
      message: "hpcc by rtt or ecn: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate, or a base round trip", () => {
    const factory = hpccFamily({ variant: "rtt" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => factory.make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
  })

  it("asks for the feedback it lives on", () => {
    expect(hpccFamily({ variant: "rtt" })).toMatchObject({ name: "hpcc-rtt/model", needs: ["rtt"] })
    expect(hpccFamily({ variant: "ecn" })).toMatchObject({ name: "hpcc-ecn/model", needs: ["ecn"] })
  })

  it("is the congestion control of a world, or a typed error", () => {
    const name = (options: HpccFamilyOptions) =>
      Effect.map(CongestionControl, (factory) => factory.name).pipe(Effect.provide(layer(options)))
    expect(Effect.runSync(name({ variant: "ecn" }))).toBe("hpcc-ecn/model")
    expect(Effect.runSync(Effect.flip(name({ variant: "rtt", target: 0 })))).toBeInstanceOf(HpccFamilyError)
  })
})
