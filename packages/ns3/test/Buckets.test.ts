import { sizeEnds } from "@rdmakit/metrics"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compareFct, formatFctLine, parseFct, slowdownBuckets } from "../src/index.ts"
import { octetsOf } from "./testdata.ts"

const hpcc = parseFct(octetsOf("fat320-fbhdp/hpcc.fct.txt.gz"), "hpcc")
const dcqcn = parseFct(octetsOf("fat320-fbhdp/dcqcn.fct.txt.gz"), "dcqcn")

const flow = (sport: number, size: number, fct: number, dport = 100) =>
  formatFctLine(0, 1, sport, dport, size, 2e9, fct, 1000)

describe("slowdown by size", () => {
  test("every flow is in one bucket, and one that ends it belongs to it", () => {
    const fcts = parseFct([300, 301, 1000, 1001, 6e6].map((size, index) => flow(index, size, 2000)).join(""), "f")
    expect(slowdownBuckets(fcts).map(({ count }) => count)).toEqual([1, 2, 1, 0, 0, 0, 0, 0, 0, 1])
    const sizes = slowdownBuckets(hpcc)
    expect(sizes.map(({ endBytes }) => endBytes)).toEqual(sizeEnds)
    expect(sizes.reduce((sum, { count }) => sum + count, 0)).toBe(7981)
    for (const { p50, p95, p99, mean } of sizes.slice(0, 7)) {
      expect(p50).toBeGreaterThanOrEqual(1)
      expect(p95).toBeGreaterThanOrEqual(p50)
      expect(p99).toBeGreaterThanOrEqual(p95)
      expect(mean).toBeGreaterThanOrEqual(1)
    }
  })

  test("an empty bucket has no percentile; a filter chooses flows", () => {
    const fcts = parseFct(flow(1, 10, 3000) + flow(2, 10, 5000, 200), "f")
    const [first, second] = slowdownBuckets(fcts, { where: ({ dport }, index) => dport[index] === 200 })
    expect(first).toMatchObject({ count: 1, mean: 5, p50: 5 })
    expect(second).toMatchObject({ count: 0, mean: Number.NaN, p99: Number.NaN })
  })
})

describe("comparing", () => {
  test("a file with itself: all the same", () => {
    expect(compareFct(hpcc, hpcc)).toMatchObject({
      matched: 7981,
      identical: 7981,
      identicalLines: 7981,
      withinOnePercent: 7981,
      worst: undefined,
      missingInA: [],
      missingInB: [],
    })
  })

  test("HPCC with DCQCN: the same flows in other times", () => {
    const comparison = compareFct(hpcc, dcqcn)
    expect(comparison.matched).toBe(7981)
    expect(comparison.identical).toBeLessThan(1000)
    const { indexA, indexB, fctNsA, fctNsB, difference } = comparison.worst!
    expect([hpcc.src[indexA], hpcc.sport[indexA]]).toEqual([dcqcn.src[indexB], dcqcn.sport[indexB]])
    expect([fctNsA, fctNsB]).toEqual([hpcc.fctNs[indexA], dcqcn.fctNs[indexB]])
    expect(difference).toBe(Math.abs(fctNsB - fctNsA) / fctNsA)
    expect(comparison.buckets[0]!.a).toEqual({ ...slowdownBuckets(hpcc)[0], endBytes: undefined })
  })

  test("within one percent, worst, missing on either side, order of no matter", () => {
    const a = parseFct(flow(1, 10, 1000) + flow(2, 10, 1000) + flow(3, 10, 1000) + flow(4, 10, 1000), "a")
    const b = parseFct(flow(5, 10, 1) + flow(3, 10, 1011) + flow(2, 10, 1010) + flow(1, 11, 1000), "b")
    expect(compareFct(a, b)).toMatchObject({
      matched: 3,
      identical: 1,
      identicalLines: 0,
      withinOnePercent: 2,
      worst: { indexA: 2, indexB: 1, fctNsA: 1000, fctNsB: 1011, difference: 0.011 },
      missingInA: [0],
      missingInB: [3],
    })
  })

  test("with other ports, by hosts, size and start, if that tells all apart", () => {
    const at = (sport: number, start: number, fct: number) => formatFctLine(1, 2, sport, 100, 1000, start, fct, 500)
    const a = parseFct(at(10000, 7, 1000) + at(10001, 40, 1000) + at(10002, 11, 1000), "a")
    const b = parseFct(at(49153, 10, 1100) + at(49152, 7, 1000), "b")
    expect(compareFct(a, b)).toMatchObject({
      ...{ matched: 2, matchedBy: "start", identical: 1, identicalLines: 0, withinOnePercent: 1 },
      ...{ worst: { indexA: 2, indexB: 0, difference: 0.1 }, missingInA: [], missingInB: [1] },
    })
    // One flow with the same ports is enough for ports to count.
    const some = parseFct(at(49152, 7, 1000) + at(10001, 40, 1000), "some")
    expect(compareFct(b, some)).toMatchObject({ matched: 1, matchedBy: "ports", identicalLines: 1 })
    const twice = parseFct(at(1, 7, 1000) + at(2, 9, 1000), "twice")
    expect(compareFct(a, twice)).toMatchObject({ matched: 0, matchedBy: "ports", missingInA: [0, 1] })
    const later = parseFct(at(1, 70, 1000), "later")
    expect(compareFct(a, later)).toMatchObject({ matched: 0, matchedBy: "ports", missingInA: [0] })
    const none = parseFct("", "none")
    expect(compareFct(a, none)).toMatchObject({ matched: 0, matchedBy: "ports", missingInB: [0, 1, 2] })
    expect(compareFct(none, a)).toMatchObject({ matched: 0, matchedBy: "ports", missingInA: [0, 1, 2] })
  })

  // One after the other through those before it, each flow would take hours here.
  test("many flows of one pair of hosts, alike or by their ports", () => {
    const count = 300_000
    const alike = parseFct(flow(1, 10, 1000).repeat(count), "a")
    expect(compareFct(alike, alike)).toMatchObject({ matched: count, identicalLines: count, missingInA: [] })
    const ports = Array.from({ length: 60_000 }, (_, dport) => flow(1, 10, 1000 + dport, dport))
    const there = parseFct(ports.join("").repeat(3), "a")
    const back = parseFct(ports.toReversed().join("").repeat(3), "b")
    expect(compareFct(there, back)).toMatchObject({ matched: 180_000, identicalLines: 180_000, missingInB: [] })
  }, 20_000)

  test("in any order of lines, repeated flows by their order", () => {
    const lines = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1 })), { maxLength: 12 })
    fc.assert(
      fc.property(lines, (keys) => {
        const texts = keys.map(([sport, dport], index) => flow(sport, 10, index + 1, dport))
        const stable = keys
          .map((key, index) => ({ key, index }))
          .sort((a, b) => a.key[0] - b.key[0] || a.index - b.index)
        const a = parseFct(texts.join(""), "a")
        const b = parseFct(stable.map(({ index }) => texts[index]).join(""), "b")
        expect(compareFct(a, b)).toMatchObject({ matched: keys.length, identicalLines: keys.length, missingInA: [] })
      }),
      { numRuns: 50 },
    )
  })
})
