import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { SrdControlError, type SrdControlOptions, srd } from "../src/index.ts"
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

describe("srd, options", () => {
  const wrong: ReadonlyArray<readonly [string, SrdControlOptions]> = [
    ["targetShare", { targetShare: 0 }],
    ["targetShare", { targetShare: Number.POSITIVE_INFINITY }],
    ["beta", { beta: 1.1 }],
    ["increaseShare", { increaseShare: -1 }],
    ["fastAfterRounds", { fastAfterRounds: 1.5 }],
    ["keepsUp", { keepsUp: Number.NaN }],
    ["initialShare", { initialShare: 0 }],
    ["mostShare", { mostShare: 0.5 }],
    ["leastPackets", { leastPackets: 0 }],
    ["leastPackets", { leastPackets: 1e7 }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => srd(options))
    expect(error).toBeInstanceOf(SrdControlError)
    expect(error).toMatchObject({ _tag: "SrdControlError", option })
    expect((error as Error).message).toMatch(new RegExp(`^srd: ${option} is .*, expected `))
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => srd({ ...options, [option]: value } as SrdControlOptions))
      expect(error).toBeInstanceOf(SrdControlError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => srd(options as unknown as SrdControlOptions))
      expect(error).toBeInstanceOf(SrdControlError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => srd(null as unknown as SrdControlOptions))).toMatchObject({
      message: "srd: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate, or a base round trip", () => {
    expect(failure(() => srd().make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => srd().make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
    expect(failure(() => srd().make(0, { ...path, mtuBytes: Number.NaN }))).toMatchObject({ option: "mtuBytes" })
  })

  it("is the congestion control of a world, or a typed error", () => {
    const name = (options: SrdControlOptions) =>
      Effect.map(CongestionControl, (factory) => factory.name).pipe(Effect.provide(layer(options)))
    expect(Effect.runSync(name({}))).toBe("srd")
    expect(Effect.runSync(Effect.flip(name({ beta: 0 })))).toBeInstanceOf(SrdControlError)
  })
})
