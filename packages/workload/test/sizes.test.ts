import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  aliStorage2019,
  fbHadoop,
  fixedSize,
  SizeDistribution,
  sizeDistributions,
  WorkloadError,
  webSearch,
} from "../src/index.ts"

const sharesOf = (sizes: SizeDistribution): ReadonlyArray<readonly [number, number]> =>
  sizes.points.map(([bytes]) => [bytes, Math.round(sizes.shareUpTo(bytes) * 1e6) / 1e4])

describe("a distribution of sizes", () => {
  it("goes through its points in straight lines", () => {
    const sizes = new SizeDistribution([
      [0, 0],
      [100, 50],
      [1100, 100],
    ])
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => sizes.bytesAt(share))).toEqual([1, 50, 100, 600, 1100])
    expect([-1, 0, 50, 100, 600, 1100, 2000].map((bytes) => sizes.shareUpTo(bytes))).toEqual([
      0, 0, 0.25, 0.5, 0.75, 1, 1,
    ])
    expect(sizes.meanBytes).toBe(0.5 * 50 + 0.5 * 600)
  })

  it("has steps, which are flows of one size, and gaps, which are sizes of no flow", () => {
    // Half the flows have 100 bytes, a quarter 100 to 200, none 200 to 1000, a quarter 1000 to 1400.
    const sizes = new SizeDistribution([
      [100, 0],
      [100, 50],
      [200, 75],
      [1000, 75],
      [1400, 100],
    ])
    expect(sizes.meanBytes).toBe(0.5 * 100 + 0.25 * 150 + 0.25 * 1200)
    expect([0, 0.1, 0.5, 0.625, 0.75, 0.875, 1].map((share) => sizes.bytesAt(share))).toEqual([
      100, 100, 100, 150, 200, 1200, 1400,
    ])
    expect([99, 100, 150, 500, 1200].map((bytes) => sizes.shareUpTo(bytes))).toEqual([0, 0.5, 0.625, 0.75, 0.875])
  })

  it("begins with a gap where its first two points are at 0 percent", () => {
    const sizes = new SizeDistribution([
      [0, 0],
      [100, 0],
      [200, 100],
    ])
    expect([0, 0.5, 1].map((share) => sizes.bytesAt(share))).toEqual([100, 150, 200])
    expect(sizes.meanBytes).toBe(150)
  })

  it("has a mean within half a byte of that of the flows it draws", () => {
    const steps = fc.array(fc.tuple(fc.double({ min: 0, max: 3, noNaN: true }), fc.nat(3)), { minLength: 1 })
    fc.assert(
      fc.property(steps, (moves) => {
        const total = moves.reduce((sum, [, weight]) => sum + weight, 0)
        fc.pre(total > 0)
        let bytes = 0
        let weight = 0
        const points: Array<readonly [number, number]> = [[0, 0]]
        for (const [more, part] of moves) {
          bytes += more
          weight += part
          points.push([bytes, (100 * weight) / total])
        }
        let sizes: SizeDistribution
        try {
          sizes = new SizeDistribution(points)
        } catch (error) {
          expect(error).toBeInstanceOf(WorkloadError)
          return
        }
        const draws = 4000
        let sum = 0
        for (let i = 0; i < draws; i++) sum += sizes.bytesAt((i + 0.5) / draws)
        // The draws are evenly spaced: each piece may hold one more or one less than its share.
        const slack = (2 * points.length * (bytes + 1)) / draws
        expect(Math.abs(sum / draws - sizes.meanBytes)).toBeLessThan(0.5 + slack)
      }),
    )
  })

  it("of one size", () => {
    expect([0, 0.3, 1].map((share) => fixedSize(500_000).bytesAt(share))).toEqual([500_000, 500_000, 500_000])
    expect(fixedSize(500_000).meanBytes).toBe(500_000)
    for (const bytes of [0, 1.5, Number.NaN]) expect(() => fixedSize(bytes)).toThrow(WorkloadError)
  })

  it.each<[string, ReadonlyArray<readonly [number, number]>, string]>([
    ["none", [], "sizes is [], expected two points or more"],
    ["one", [[0, 0]], "sizes is [0,0], expected two points or more"],
    [
      "no beginning",
      [
        [0, 5],
        [1, 100],
      ],
      "[0,5] at 0, expected 0 percent at the first",
    ],
    [
      "no end",
      [
        [0, 0],
        [1, 99],
      ],
      "[1,99], expected 100 percent at the last",
    ],
    [
      "descending",
      [
        [5, 0],
        [1, 100],
      ],
      "[1,100] at 1, expected a size of at least 5",
    ],
    [
      "no number",
      [
        [0, 0],
        [Number.NaN, 100],
      ],
      "expected a size of at least 0 bytes",
    ],
    [
      "nothing but nothing",
      [
        [0, 0],
        [0, 100],
      ],
      "[0,100] at 1, expected a size of at least 1 byte; a smaller size may only stand at 0 percent",
    ],
    [
      "flows of nothing",
      [
        [0, 0],
        [0, 90],
        [1, 100],
      ],
      "[0,90] at 1, expected a size of at least 1 byte",
    ],
    [
      "flows of less than a byte",
      [
        [0, 0],
        [0.5, 90],
        [1, 100],
      ],
      "[0.5,90] at 1, expected a size of at least 1 byte",
    ],
  ])("refuses %s", (_, points, message) => {
    expect(() => new SizeDistribution(points)).toThrow(message)
  })
})

describe("measured distributions", () => {
  // Sums of (size + size before) / 2 · percent, by hand.
  it("WebSearch: the mean is 1,711,250 bytes", () => {
    const hundredfold =
      75_000 +
      75_000 +
      250_000 +
      400_000 +
      845_000 +
      980_000 +
      6_000_000 +
      15_000_000 +
      35_000_000 +
      52_500_000 +
      60_000_000
    expect(webSearch.meanBytes).toBeCloseTo(hundredfold / 100, 6)
    expect(hundredfold / 100).toBe(1_711_250)
    expect([0.15, 0.53, 0.6, 0.985, 1].map((share) => webSearch.bytesAt(share))).toEqual([
      10_000, 80_000, 200_000, 20_000_000, 30_000_000,
    ])
  })

  it("FB_Hadoop: half the flows fit into 700 bytes, the mean is 120,420.75", () => {
    expect(fbHadoop.meanBytes).toBeCloseTo(120_420.75, 6)
    expect(fbHadoop.bytesAt(0.5)).toBe(700)
    expect(fbHadoop.bytesAt(0.975)).toBe(1e6)
    expect(fbHadoop.bytesAt(1)).toBe(10e6)
  })

  it("AliStorage2019: the mean is 40,869.8 bytes", () => {
    const hundredfold = 45_860 + 277_680 + 136_800 + 236_640 + 146_880 + 311_040 + 145_920 + 2_786_160
    expect(aliStorage2019.meanBytes).toBeCloseTo(hundredfold / 100, 6)
    expect(hundredfold / 100).toBeCloseTo(40_869.8, 9)
    expect(aliStorage2019.bytesAt(0.6921)).toBe(8000)
  })

  it("have names, and the shares of their points", () => {
    expect([...sizeDistributions.keys()]).toEqual(["WebSearch", "FB_Hadoop", "AliStorage2019"])
    for (const sizes of sizeDistributions.values()) expect(sharesOf(sizes)).toEqual(sizes.points)
  })
})
