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
  it.each<readonly [string, SrdControlOptions]>([
    ["targetShare", { targetShare: 0 }],
    ["targetShare", { targetShare: Number.POSITIVE_INFINITY }],
    ["beta", { beta: 1.1 }],
    ["increaseShare", { increaseShare: -1 }],
    ["fastAfterRounds", { fastAfterRounds: 1.5 }],
    ["keepsUp", { keepsUp: Number.NaN }],
    ["initialShare", { initialShare: 0 }],
    ["mostShare", { mostShare: 0.5 }],
    ["leastPackets", { leastPackets: 0 }],
  ])("refuses a wrong %s", (option, options) => {
    const error = failure(() => srd(options))
    expect(error).toBeInstanceOf(SrdControlError)
    expect(error).toMatchObject({ _tag: "SrdControlError", option })
    expect((error as Error).message).toMatch(new RegExp(`^srd: ${option} is .*, expected `))
  })

  it("refuses a path without a line rate, or a base round trip", () => {
    expect(failure(() => srd().make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => srd().make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
  })

  it("is the congestion control of a world, or a typed error", () => {
    const name = (options: SrdControlOptions) =>
      Effect.map(CongestionControl, (factory) => factory.name).pipe(Effect.provide(layer(options)))
    expect(Effect.runSync(name({}))).toBe("srd")
    expect(Effect.runSync(Effect.flip(name({ beta: 0 })))).toBeInstanceOf(SrdControlError)
  })
})
