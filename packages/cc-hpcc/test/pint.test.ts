import { controllerSuite, dumbbell } from "@rdmakit/conformance"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { HpccOptionsError, type HpccPintOptions, hpccPint, hpccPintPresets } from "../src/index.ts"
import { pintLayer } from "../src/layer.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("hpcc-pint, options", () => {
  it("names the variant, needs PINT, and says to which base", () => {
    expect(hpccPint({ variant: "paper" })).toMatchObject({ name: "hpcc-pint/paper", needs: ["pint"], pintBase: 1.05 })
    expect(hpccPint({ variant: "ns3", logBase: 1.01 })).toMatchObject({ name: "hpcc-pint/ns3", pintBase: 1.01 })
  })

  const wrong: ReadonlyArray<readonly [string, HpccPintOptions]> = [
    ["variant", { variant: "int" as "paper" }],
    ["eta", { variant: "paper", eta: 0 }],
    ["maxStage", { variant: "ns3", maxStage: 0.5 }],
    ["reaction", { variant: "paper", reaction: "never" as "both" }],
    ["additiveIncreaseBytes", { variant: "paper", additiveIncreaseBytes: -1 }],
    ["minWindowBytes", { variant: "paper", minWindowBytes: 0 }],
    ["logBase", { variant: "paper", logBase: 1 }],
    ["logBase", { variant: "ns3", logBase: 1.0001 }],
    ["logBase", { variant: "ns3", logBase: Number.NaN }],
    ["probability", { variant: "paper", probability: 0 }],
    ["probability", { variant: "ns3", probability: 1.5 }],
    ["additiveIncreaseBps", { variant: "ns3", additiveIncreaseBps: 0.5 }],
    ["minRateBps", { variant: "ns3", minRateBps: 0 }],
    ["varWin", { variant: "ns3", varWin: "no" as unknown as boolean }],
    ["random", { variant: "ns3", random: {} as never }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => hpccPint(options))
    expect(error).toBeInstanceOf(HpccOptionsError)
    expect(error).toMatchObject({ _tag: "HpccOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "1.5", [1], true, null, 1n, {}]) {
      const error = failure(() => hpccPint({ ...options, [option]: value } as HpccPintOptions))
      expect(error).toBeInstanceOf(HpccOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses a path that it would divide by", () => {
    const factory = hpccPint({ variant: "ns3" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => factory.make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
  })

  it("every preset is valid", () => {
    for (const preset of Object.values(hpccPintPresets)) expect(hpccPint(preset).make(0, path).rate).toBe(100e9)
  })

  it("is a layer", () => {
    const name = (options: HpccPintOptions) =>
      Effect.map(CongestionControl, (factory) => factory.name).pipe(Effect.provide(pintLayer(options)))
    expect(Effect.runSync(name({ variant: "paper" }))).toBe("hpcc-pint/paper")
    expect(Effect.runSync(Effect.flip(name({ variant: "paper", eta: -1 })))).toBeInstanceOf(HpccOptionsError)
  })
})

// As HPCC: it settles within a few hundred round trips, and keeps η of the link.
const expectations = { settlePs: 4e9, utilisation: 0.9, fairness: 0.6 }
controllerSuite(hpccPint(hpccPintPresets.paper), expectations)
controllerSuite(hpccPint(hpccPintPresets["one-in-16"]), expectations)
controllerSuite(hpccPint(hpccPintPresets["ns3-config"]), expectations)
controllerSuite(hpccPint({ ...hpccPintPresets["ns3-config"], probability: 1 / 16, varWin: false }), expectations)

describe("sixteen to one", () => {
  it.each(["paper", "one-in-16", "ns3-config"] as const)("%s drains the queue and keeps the link busy", (name) => {
    const { queueBytesMax, delivered, controllers } = dumbbell(hpccPint(hpccPintPresets[name]), {
      flows: Array.from({ length: 16 }, () => ({})),
      lineRateBps: 100e9,
      baseRttPs: 8e6,
      durationPs: 500e6,
      slices: 50,
    })
    expect(queueBytesMax[0]).toBeGreaterThan(700_000)
    expect(Math.max(...queueBytesMax.subarray(40))).toBeLessThan(30_000)
    const busy = delivered.reduce((total, each) => total + each.subarray(40).reduce((sum, bytes) => sum + bytes, 0), 0)
    expect(busy / (10 * 125_000)).toBeGreaterThan(0.88)
    for (const controller of controllers) {
      expect(controller.metrics().fastReactions).toBeGreaterThan(0)
      expect(controller.metrics().fullUpdates).toBeGreaterThan(0)
    }
  })
})
