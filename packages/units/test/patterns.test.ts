import fc from "fast-check"
import { expect, test } from "vitest"
import {
  ratePattern,
  sharePattern,
  sizePattern,
  timePattern,
  tryParseRate,
  tryParseShare,
  tryParseSize,
  tryParseTime,
  UnitError,
} from "../src/index.ts"

const kinds = [
  [
    "time",
    timePattern,
    tryParseTime,
    ["1us", "0.001ms", " 640 ns ", "2s", "1e3ps", "+5µs"],
    ["1", "us", "1 u", "-1s", "1us x", "1.5.5s"],
  ],
  [
    "rate",
    ratePattern,
    tryParseRate,
    ["100Gbps", "50Mb/s", "1000 Mbps", "1.25GB/s", "5e9", ".5Gibps"],
    ["fast", "1Xbps", "-1bps", "1 b/s/s"],
  ],
  ["size", sizePattern, tryParseSize, ["32MiB", "4KB", "500 kB", "1000", "1e3B"], ["", "MB", "1mb", "-1", "0x10"]],
] as const

test.each(kinds)("the pattern of a %s", (_, pattern, tryParse, good, bad) => {
  for (const text of good) {
    expect(tryParse(text)).toBeTypeOf("number")
    expect(text).toMatch(pattern)
  }
  for (const text of bad) {
    expect(tryParse(text)).toBeInstanceOf(UnitError)
    expect(text).not.toMatch(pattern)
  }
})

test.each(kinds)("whatever is read as a %s matches it", (_, pattern, tryParse) => {
  const piece = fc.constantFrom(
    "1",
    "20",
    ".",
    "e",
    "-",
    "+",
    " ",
    "us",
    "µs",
    "s",
    "K",
    "M",
    "G",
    "i",
    "B",
    "b",
    "ps",
    "/s",
    "0",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
      const text = pieces.join("")
      if (typeof tryParse(text) === "number") expect(text).toMatch(pattern)
    }),
    { numRuns: 3000 },
  )
})

const shares = ["2%", "0.02", " 2 % ", ".5%", "5.%", "150%"]

test.each(shares)("%s is a share", (text) => {
  expect(sharePattern.test(text)).toBe(true)
  expect(tryParseShare(text)).toBe(Number(text.replace("%", "")) / (text.includes("%") ? 100 : 1))
})

test.each(["", "%", "-2%", "2%%", "2 percent", "1e-2", `${"0".repeat(64)}1%`])("%s is no share", (text) => {
  expect(tryParseShare(text)).toBeUndefined()
})
