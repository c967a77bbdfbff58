import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { PintCodec } from "../src/index.ts"

const ALMOST_ONE = 65535 / 65536

describe("the PINT codec", () => {
  it("takes the bits that PINT and the HPCC simulator give", () => {
    // PINT: 8 bits at ε = 0.025, a base of 1.05. pint.cc: ⌈log2(log_base 512²)⌉.
    // ln 262,144 = 12.4766: / ln 1.05 = 255.7; / ln 1.01 = 1253.9; / ln 2 = 18.
    const bits = [1.05, 1.01, 2].map((base) => {
      const codec = new PintCodec(base)
      return [codec.bits, codec.octets]
    })
    expect(bits).toEqual([
      [8, 1],
      [11, 2],
      [5, 1],
    ])
  })

  it("a digest d stands for base^d / 512", () => {
    const codec = new PintCodec(2)
    expect([0, 1, 9, 10, 18].map((digest) => codec.decode(digest))).toEqual([1 / 512, 1 / 256, 1, 2, 512])
    // 1.05^128 / 512, and 1.01^627 / 512, by long multiplication.
    expect(new PintCodec(1.05).decode(128)).toBeCloseTo(1.00684, 5)
    expect(new PintCodec(1.01).decode(627)).toBeCloseTo(1.000533, 6)
  })

  it("rounds the logarithm up or down so that the mean is right", () => {
    const codec = new PintCodec(2)
    // 1.5 is 768 512ths, half way from 2^9 to 2^10: half of the draws go up.
    expect([0, 0.499, 0.5, ALMOST_ONE].map((draw) => codec.encode(1.5, draw))).toEqual([10, 10, 9, 9])
    // 1.25 is 640: a quarter of them.
    expect([0.249, 0.25].map((draw) => codec.encode(1.25, draw))).toEqual([10, 9])
  })

  it("a utilisation counts in whole 512ths, rounded up, and at least one", () => {
    const codec = new PintCodec(2)
    expect([0, 1e-9, 1 / 512].map((utilisation) => codec.encode(utilisation, ALMOST_ONE))).toEqual([0, 0, 0])
    // 1.1 / 512 counts as 2.
    expect(codec.encode(1.1 / 512, ALMOST_ONE)).toBe(1)
  })

  it("a utilisation beyond the largest digest gets that, and so does a digest", () => {
    const codec = new PintCodec(1.05)
    expect([600, 1e300, Number.POSITIVE_INFINITY].map((each) => codec.encode(each, 0))).toEqual([255, 255, 255])
    expect(codec.decode(65_535)).toBe(codec.decode(255))
  })

  it("is right on average, for any base and utilisation", () => {
    const bases = fc.constantFrom(1.01, 1.05, 1.1, 2)
    fc.assert(
      fc.property(bases, fc.double({ min: 0, max: 100, noNaN: true }), (base, utilisation) => {
        const codec = new PintCodec(base)
        const [up, down] = [codec.encode(utilisation, 0), codec.encode(utilisation, ALMOST_ONE)]
        expect(up - down === 0 || up - down === 1).toBe(true)
        const draws = 256
        let sum = 0
        for (let i = 0; i < draws; i++) sum += codec.decode(codec.encode(utilisation, (i + 0.5) / draws))
        const exact = Math.max(1, Math.ceil(utilisation * 512)) / 512
        expect(Math.abs(sum / draws - exact)).toBeLessThanOrEqual(
          (codec.decode(up) - codec.decode(down)) / draws + 1e-9,
        )
      }),
    )
  })

  it.each([1, 0.5, 0, -1.05, Number.NaN, Number.POSITIVE_INFINITY, 1.0001, 1e6])("refuses a base of %d", (base) => {
    expect(() => new PintCodec(base)).toThrow(RangeError)
  })
})

// Digests of pint.cc's encode_u, compiled with glibc 2.36, for draws of 0 and of 65,535 out of 65,536, and the least
// draw that rounds down.
it.each([
  [1.05, 100, 95, 94, 25_002],
  [1.05, 512, 128, 127, 56_187],
  [1.05, 1000, 142, 141, 37_681],
  [1.01, 512, 627, 626, 62_011],
  [1.01, 700, 659, 658, 24_706],
])("base %d, %i/512: as the HPCC simulator", (base, count, up, down, threshold) => {
  const codec = new PintCodec(base)
  const encode = (draw: number): number => codec.encode(count / 512, draw / 65_536)
  expect([encode(0), encode(65_535), encode(threshold - 1), encode(threshold)]).toEqual([up, down, up, down])
})
