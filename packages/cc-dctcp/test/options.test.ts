import { describe, expect, it } from "vitest"
import {
  type DctcpOptions,
  DctcpOptionsError,
  dctcp,
  dctcpPresets,
  markingThresholdBytes,
  simulationThresholdBytes,
} from "../src/index.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("dctcp, options", () => {
  it("names the variant and needs ECN", () => {
    for (const variant of ["paper", "ns3"] as const) {
      expect(dctcp({ variant })).toMatchObject({ name: `dctcp/${variant}`, needs: ["ecn"] })
    }
  })

  const wrong: ReadonlyArray<readonly [string, DctcpOptions]> = [
    ["variant", { variant: "l4s" as "paper" }],
    ["g", { variant: "paper", g: 0 }],
    ["g", { variant: "ns3", g: 1.1 }],
    ["g", { variant: "ns3", g: Number.NaN }],
    ["additiveIncreaseBytes", { variant: "paper", additiveIncreaseBytes: -1 }],
    ["minWindowBytes", { variant: "paper", minWindowBytes: 0 }],
    ["initialWindowBytes", { variant: "paper", initialWindowBytes: 0 }],
    ["leastTimeoutPs", { variant: "paper", leastTimeoutPs: 0 }],
    ["leastTimeoutPs", { variant: "paper", leastTimeoutPs: Number.NaN }],
    ["maxWindowBytes", { variant: "paper", minWindowBytes: 2000, maxWindowBytes: 1000 }],
    ["start", { variant: "paper", start: "fast" as "slow-start" }],
    ["pacing", { variant: "paper", pacing: "yes" as unknown as boolean }],
    ["additiveIncreaseBps", { variant: "ns3", additiveIncreaseBps: 0.5 }],
    ["minRateBps", { variant: "ns3", minRateBps: 0 }],
    ["window", { variant: "ns3", window: "bdp" as "fixed" }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => dctcp(options))
    expect(error).toBeInstanceOf(DctcpOptionsError)
    expect(error).toMatchObject({ _tag: "DctcpOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => dctcp({ ...options, [option]: value } as DctcpOptions))
      expect(error).toBeInstanceOf(DctcpOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => dctcp(options as unknown as DctcpOptions))
      expect(error).toBeInstanceOf(DctcpOptionsError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => dctcp(null as unknown as DctcpOptions))).toMatchObject({
      message: "dctcp: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate or a base RTT", () => {
    const factory = dctcp({ variant: "ns3" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => factory.make(0, { ...path, baseRttPs: 0 }))).toMatchObject({ option: "baseRttPs" })
    expect(failure(() => factory.make(0, { ...path, mtuBytes: Number.NaN }))).toMatchObject({ option: "mtuBytes" })
  })

  it("every preset is valid", () => {
    for (const preset of Object.values(dctcpPresets)) expect(dctcp(preset).make(0, path).rate).toBe(100e9)
  })

  it("a window only where the path gives one, in the rate form", () => {
    for (const window of ["none", "fixed", "variable"] as const) {
      expect(dctcp({ variant: "ns3", window }).make(0, { ...path, windowBytes: 0 }).window).toBe(Infinity)
    }
  })
})

describe("where to mark", () => {
  it("K > C · RTT / 7", () => {
    // DCTCP §3.4: 10 Gb/s and 100 µs are 125,000 bytes, a seventh 17,857.
    expect(markingThresholdBytes(10e9, 100e6)).toBeCloseTo(17_857.14, 2)
  })

  it("HPCC's comparisons: 300 KB at 100 Gb/s", () => {
    expect([10e9, 25e9, 100e9].map(simulationThresholdBytes)).toEqual([30_000, 75_000, 300_000])
  })

  it("refuses rates and times that are none", () => {
    const wrong = [
      () => markingThresholdBytes(0, 1),
      () => markingThresholdBytes(1, Infinity),
      () => simulationThresholdBytes(Number.NaN),
      () => simulationThresholdBytes("10e9" as unknown as number),
    ]
    for (const each of wrong) expect(failure(each)).toBeInstanceOf(DctcpOptionsError)
  })
})
