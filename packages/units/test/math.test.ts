import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cbrt, exp, log, log2, pow } from "../src/index.ts"

const float = new Float64Array(1)
const words = new BigInt64Array(float.buffer)
const bits = (x: number): bigint => {
  float[0] = x
  return words[0]!
}
const hex = (x: number): string => BigInt.asUintN(64, bits(x)).toString(16).padStart(16, "0")
/** How many doubles lie between two of the same sign. */
const apart = (a: number, b: number): number => (Object.is(a, b) ? 0 : Number(bits(a) - bits(b)))

const near = (actual: number, expected: number, what: string): void => {
  if (Math.abs(apart(actual, expected)) <= 2) return
  expect(actual, what).toBe(expected)
}

const any = fc.double({ noNaN: true })
const positive = fc.double({ min: 5e-324, max: Number.MAX_VALUE, noNaN: true })
const aroundOne = fc
  .tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.nat({ max: 50 }))
  .map(([x, n]) => 1 + x / 2 ** (n + 1))
const arguments_ = fc.oneof(positive, aroundOne, fc.double({ min: 1e-3, max: 1e6, noNaN: true }))

describe("log, log2, cbrt", () => {
  // Engines agree with the truth to a unit or so; golden bits below pin down our own.
  it("is near the engine's", () => {
    fc.assert(
      fc.property(arguments_, (x) => {
        near(log(x), Math.log(x), `log(${x})`)
        near(log2(x), Math.log2(x), `log2(${x})`)
        near(cbrt(x), Math.cbrt(x), `cbrt(${x})`)
        near(cbrt(-x), Math.cbrt(-x), `cbrt(${-x})`)
      }),
      { numRuns: 5000 },
    )
  })

  it("is exact where the answer is whole", () => {
    for (let k = -1074; k < 1024; k++) expect(log2(2 ** k)).toBe(k)
    for (let n = -1000; n <= 1000; n++) expect(cbrt(n ** 3)).toBe(n)
    expect(log(1)).toBe(0)
  })

  it("answers outside its domain as Math does", () => {
    for (const x of [0, -0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect([log(x), log2(x), cbrt(x)]).toEqual([Math.log(x), Math.log2(x), Math.cbrt(x)])
    }
  })
})

describe("exp", () => {
  it("is near the engine's", () => {
    const exponent = fc.oneof(
      fc.double({ min: -745, max: 709, noNaN: true }),
      fc.double({ min: -1, max: 1, noNaN: true }),
    )
    fc.assert(
      fc.property(exponent, (x) => near(exp(x), Math.exp(x), `exp(${x})`)),
      { numRuns: 5000 },
    )
  })

  it("answers at the ends as Math does", () => {
    for (const x of [0, -0, 709.782712893384, 709.782712893385, 1e300, -746, -1e300]) expect(exp(x)).toBe(Math.exp(x))
    expect([exp(Number.NaN), exp(Number.POSITIVE_INFINITY), exp(Number.NEGATIVE_INFINITY)]).toEqual([
      Number.NaN,
      Number.POSITIVE_INFINITY,
      0,
    ])
  })
})

describe("pow", () => {
  it("is near the engine's", () => {
    const power = fc.oneof(
      fc.double({ min: -10, max: 10, noNaN: true }),
      fc.double({ min: -3000, max: 3000, noNaN: true }),
    )
    fc.assert(
      fc.property(arguments_, power, (x, y) => {
        const expected = x ** y
        if (expected > 1e-300) near(pow(x, y), expected, `pow(${x}, ${y})`)
      }),
      { numRuns: 5000 },
    )
  })

  it("is exact where the answer has few digits", () => {
    for (let base = 2; base <= 30; base++) {
      let product = 1
      for (let n = 1; product * base < 2 ** 53; n++) {
        product *= base
        expect(pow(base, n)).toBe(product)
        expect(pow(-base, n)).toBe(n % 2 === 0 ? product : -product)
      }
    }
    expect([pow(1.5, 5), pow(0.125, -4), pow(2, -1074), pow(6.25, 0.5)]).toEqual([7.59375, 4096, 5e-324, 2.5])
  })

  it("answers outside its domain as Math does", () => {
    const special = [0, -0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e300, -1e300, 2 ** 53 + 2]
    special.push(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)

    for (const x of special) for (const y of special) near(pow(x, y), x ** y, `pow(${x}, ${y})`)
  })

  it("never throws", () => {
    fc.assert(fc.property(any, any, (x, y) => typeof pow(x, y) === "number"))
  })
})

// Every bit is settled: a change here changes the results of every simulation that draws or computes with them.
it("has the bits it always had", () => {
  const arguments_ = [0.1, 0.7, 1.0000001, 3, 12345.678, 1e-310]
  expect(arguments_.map((x) => [log(x), log2(x), cbrt(x), exp(x), pow(x, 1.7)].map(hex))).toEqual(GOLDEN)
})

/** Correctly rounded from 200-bit arithmetic. */
const GOLDEN: ReadonlyArray<ReadonlyArray<string>> = [
  ["c0026bb1bbb55515", "c00a934f0979a371", "3fddb4c7760bcff3", "3ff1aec7b35a00d4", "3f946e75df96dc9a"],
  ["bfd6d3c324e13f50", "bfe0776228967d13", "3fec69b5a72f1a99", "40001c2a61268987", "3fe1736b10d5852e"],
  ["3e7ad7f2847b6492", "3e835d0fea5fccb7", "3ff0000008f2a62f", "4005bf0aaf904984", "3ff000002da24fbc"],
  ["3ff193ea7aad030b", "3ff95c01a39fbd68", "3ff7137449123ef6", "403415e5bf6fb106", "4019e45c2acce59e"],
  ["4022d79559791e31", "402b2ef5b86e63d0", "40371caec6430a07", "7ff0000000000000", "4161380a0db9ebcd"],
  ["c0864e69394d9508", "c0901730dabca5f6", "2a7a9d1b0b5d7427", "3ff0000000000000", "0000000000000000"],
]
