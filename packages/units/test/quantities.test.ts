import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  formatRate,
  formatSize,
  formatTime,
  NEVER,
  parseRate,
  parseSize,
  parseTime,
  tryParseRate,
  tryParseSize,
  tryParseTime,
  UnitError,
} from "../src/index.ts"

const failure = (value: number | UnitError): UnitError => {
  if (!(value instanceof UnitError)) throw new Error(`accepted as ${value}`)
  return value
}

it.each([5, undefined, null, {}, 5n])("%o is no text", (value) => {
  for (const parse of [tryParseTime, tryParseRate, tryParseSize]) {
    expect(failure(parse(value as unknown as string)).message).toContain(`it is a ${typeof value}, no text`)
  }
})

describe("parseTime", () => {
  it.each([
    ["1us", 1e6],
    ["0.001ms", 1e6],
    ["640 ns", 640e3],
    ["2s", 2e12],
    ["1000ns", 1e6],
    ["0.1ns", 100],
    ["0.3ns", 300],
    ["1.007us", 1_007_000],
    ["1e-3ms", 1e6],
    ["5.e3ps", 5000],
    [".5ns", 500],
    ["+1ns", 1000],
    ["7µs", 7e6],
    ["0s", 0],
    ["2.000000164s", 2_000_000_164_000],
    ["90min", 5400e12],
    ["2.0000ps", 2],
  ])("%s", (text, ps) => expect(parseTime(text)).toBe(ps))

  it.each([
    "",
    "  ",
    "1",
    "-1us",
    "NaN",
    "Infinityns",
    "us",
    "1 parsec",
    "0.1ps",
    "1e-13s",
    "3h",
    "1e9999s",
    "1e99s",
    "1..2s",
    "1us 2",
  ])("rejects %j", (text) => expect(failure(tryParseTime(text)).input).toBe(text))

  it("says what would have been accepted", () => {
    const error = failure(tryParseTime("5 usec"))
    expect(error).toMatchObject({ _tag: "UnitError", quantity: "time", suggestion: "us" })
    expect(error.expected).toContain("ns")
    expect(error.message).toBe(
      `"5 usec" is no time: unknown unit "usec"; accepted units: ps, ns, us, ms, s, min, h; did you mean "us"?`,
    )
    expect(failure(tryParseTime("5 lightyears")).suggestion).toBeUndefined()
    expect(() => parseTime("5")).toThrow(UnitError)
    expect(() => parseTime("5")).toThrow("the unit is missing")
  })
})

describe("parseRate", () => {
  it.each([
    ["100Gbps", 100e9],
    ["50Mb/s", 50e6],
    ["40Gb/s", 40e9],
    ["1000Mbps", 1e9],
    ["1e9bps", 1e9],
    ["1.25GB/s", 1e10],
    ["12.5 kBps", 1e5],
    ["1KB/s", 8000],
    ["1Kib/s", 1024],
    ["1KiB/s", 8192],
    ["3Mib/s", 3 * 2 ** 20],
    ["1.6Tbps", 1.6e12],
    ["800 Gbit/s", 8e11],
    ["2500", 2500],
    ["0.1bps", 0.1],
  ])("%s", (text, bps) => expect(parseRate(text)).toBe(bps))

  it.each([
    ["100gbps", "Gbps"],
    ["100G", "Gbps"],
    ["100Gbsp", "Gbps"],
    ["10 mb/s", "Mb/s"],
  ])("%s: did you mean %s", (text, suggestion) => expect(failure(tryParseRate(text)).suggestion).toBe(suggestion))

  it.each(["", "-1Gbps", "fast", "1 /s?"])("rejects %j", (text) => {
    failure(tryParseRate(text))
  })
})

describe("parseSize", () => {
  it.each([
    ["32MiB", 32 * 2 ** 20],
    ["4KB", 4000],
    ["500 kB", 500_000],
    ["1000", 1000],
    ["2GiB", 2 ** 31],
    ["1.5KiB", 1536],
    ["64B", 64],
    ["8TB", 8e12],
  ])("%s", (text, bytes) => expect(parseSize(text)).toBe(bytes))

  it("rejects", () => {
    expect(failure(tryParseSize("0.5B")).message).toContain("finer than a byte")
    expect(failure(tryParseSize("10000TiB")).message).toContain("2^53")
    expect(failure(tryParseSize("3 mib")).suggestion).toBe("MiB")
    failure(tryParseSize("-4KB"))
  })
})

describe("format", () => {
  it("writes the largest unit that leaves a whole part", () => {
    expect([0, 1, 1500, 1e6, 12_240_000, 2_000_000_163_000, -87_200, NEVER].map(formatTime)).toEqual([
      "0s",
      "1ps",
      "1.5ns",
      "1us",
      "12.24us",
      "2.000000163s",
      "-87.2ns",
      "never",
    ])
    expect([0, 0.1, 999, 25e9, 1e11, 4e11, 37123456789, 1e15].map(formatRate)).toEqual([
      "0bps",
      "0.1bps",
      "999bps",
      "25Gbps",
      "100Gbps",
      "400Gbps",
      "37.123456789Gbps",
      "1000Tbps",
    ])
    expect([0, 1000, 1024, 2 ** 25, 512_000, 1048, 2 ** 50].map(formatSize)).toEqual([
      "0B",
      "1kB",
      "1KiB",
      "32MiB",
      "512kB",
      "1.048kB",
      "1024TiB",
    ])
  })

  const whole = fc.oneof(
    fc.maxSafeNat(),
    fc.nat(),
    fc.nat({ max: 9007199 }).map((n) => n * 1e9),
  )
  it("is read back to the same number", () => {
    fc.assert(fc.property(whole, (ps) => parseTime(formatTime(ps)) === ps))
    fc.assert(fc.property(whole, (bytes) => parseSize(formatSize(bytes)) === bytes))
    const rate = fc.oneof(whole, fc.double({ min: 1e-9, max: 1e18, noNaN: true }))
    fc.assert(fc.property(rate, (bps) => parseRate(formatRate(bps)) === bps))
  })

  it("never throws on any text", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string().map((unit) => `1${unit}`),
    )
    fc.assert(
      fc.property(text, (input) => {
        for (const value of [tryParseTime(input), tryParseRate(input), tryParseSize(input)]) {
          if (!(value instanceof UnitError)) expect(value).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})
