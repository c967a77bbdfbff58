import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mulDivFloor, NEVER, ns3Nanoseconds, ns3TxNanoseconds, serializationPs } from "../src/index.ts"

/** A non-negative double as a fraction of big integers. */
const rational = (value: number): readonly [bigint, bigint] => {
  let denominator = 1n
  let whole = value
  while (!Number.isInteger(whole)) {
    whole *= 2
    denominator *= 2n
  }
  return [BigInt(whole), denominator]
}

const ns3Oracle = (seconds: number): number => {
  const whole = Math.floor(seconds)
  const [top, bottom] = rational(seconds - whole)
  const fraction = (top << 64n) / bottom
  return whole * 1e9 + Number((fraction * 1_000_000_000n) >> 64n)
}

const serializationOracle = (bytes: number, bps: number): number => {
  const [top, bottom] = rational(bps)
  return Number((2n * BigInt(bytes) * 8_000_000_000_000n * bottom + top) / (2n * top))
}

/** A cheap sequence of numbers below 2^32: a million draws from fast-check would take the whole budget. */
const draws = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const rates = [1e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9, 800e9, 37123456789, 99999999999, 1e11 / 3]

describe("serializationPs", () => {
  it.each([
    [1090, 100e9, 87_200],
    [1090, 400e9, 21_800],
    [1500, 10e9, 1_200_000],
    [64, 800e9, 640],
    [1, 16e12, 1], // half a picosecond goes up
    [1, 3e12, 3],
    [0, 1e9, 0],
    [9000, 1e3, 72e12],
    [1, 0, NEVER],
  ])("%i B at %d b/s", (bytes, bps, ps) => expect(serializationPs(bytes, bps)).toBe(ps))

  it("is the exact quotient, rounded half up", () => {
    const draw = draws(1)
    for (let i = 0; i < 100_000; i++) {
      const bytes = draw(1 << (1 + draw(24)))
      const bps = i % 3 === 0 ? rates[draw(rates.length)]! : 1 + draw(2 ** 32) * (i % 3 === 1 ? 100 : 0.37)
      const ps = serializationPs(bytes, bps)
      if (ps !== serializationOracle(bytes, bps))
        expect(ps, `${bytes} B at ${bps}`).toBe(serializationOracle(bytes, bps))
    }
  })

  it("rounds up at every exact half", () => {
    // 16 Tb/s is half a picosecond a byte; odd numbers of bytes are the halves.
    fc.assert(fc.property(fc.nat(), (n) => serializationPs(2 * n + 1, 16e12) === n + 1))
  })
})

describe("ns3Nanoseconds", () => {
  it.each([
    [1090, 100e9, 87],
    [550, 100e9, 43],
    [1090, 10e9, 871],
    [1048, 100e9, 83],
    [1056, 100e9, 84],
    [60, 100e9, 4],
    [88, 100e9, 7],
    [1090, 400e9, 21],
  ])("%i B at %d b/s", (bytes, bps, ns) => expect(ns3TxNanoseconds(bytes, bps)).toBe(ns))

  it("converts flow starts", () => {
    expect(ns3Nanoseconds(Number("2.000000164"))).toBe(2_000_000_163)
    expect(ns3Nanoseconds(2)).toBe(2e9)
    expect(ns3Nanoseconds(0)).toBe(0)
    expect(ns3Nanoseconds(0.5)).toBe(5e8)
  })

  it("is ns-3's conversion, bit by bit", () => {
    const draw = draws(2)
    for (let i = 0; i < 150_000; i++) {
      const bytes = draw(1 << (1 + draw(20)))
      const bps = i % 2 === 0 ? rates[draw(rates.length)]! : 1000 + draw(2 ** 32) * 100
      const ns = ns3TxNanoseconds(bytes, bps)
      const oracle = ns3Oracle((8 * bytes) / bps)
      if (ns !== oracle) expect(ns, `${bytes} B at ${bps}`).toBe(oracle)
    }
    fc.assert(fc.property(fc.double({ min: 0, max: 9e6, noNaN: true }), (x) => ns3Nanoseconds(x) === ns3Oracle(x)))
    fc.assert(fc.property(fc.double({ min: 0, max: 1e-5, noNaN: true }), (x) => ns3Nanoseconds(x) === ns3Oracle(x)))
    // Every whole nanosecond, where a wrong floor would show.
    for (let ns = 0; ns < 50_000; ns++) {
      if (ns3Nanoseconds(ns * 1e-9) !== ns3Oracle(ns * 1e-9)) expect.fail(`${ns} ns`)
      if (ns3Nanoseconds(2 + ns / 1e9) !== ns3Oracle(2 + ns / 1e9)) expect.fail(`2 s and ${ns} ns`)
    }
  })
})

describe("mulDivFloor", () => {
  const oracle = (a: number, b: number, c: number): number => Number((BigInt(a) * BigInt(b)) / BigInt(c))

  it("is exact where the quotient is below 2^53", () => {
    const number = fc.oneof(fc.maxSafeNat(), fc.nat(), fc.nat({ max: 1000 }))
    const divisor = fc.oneof(fc.integer({ min: 1, max: 2 ** 52 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }))
    fc.assert(
      fc.property(number, number, divisor, (a, b, c) => {
        const expected = oracle(a, b, c)
        fc.pre(expected <= Number.MAX_SAFE_INTEGER)
        expect(mulDivFloor(a, b, c)).toBe(expected)
      }),
      { numRuns: 3000 },
    )
  })

  it("is exact next to whole quotients", () => {
    // a·b = k·c + d with d around zero: the quotient of doubles cannot tell these apart.
    const draw = draws(3)
    for (let i = 0; i < 100_000; i++) {
      const c = 1 + draw(2 ** 32) * (1 + draw(1000))
      const b = 1 + draw(2 ** 32) * (1 + draw(1000))
      const k = draw(2 ** 32) * (1 + draw(4000))
      const exact = BigInt(k) * BigInt(c)
      const a = Number(exact / BigInt(b)) + draw(3) - 1
      if (a < 0 || a > Number.MAX_SAFE_INTEGER) continue
      if (mulDivFloor(a, b, c) !== oracle(a, b, c)) expect.fail(`⌊${a}·${b}/${c}⌋`)
      // b = c: the quotient is a itself.
      if (mulDivFloor(a, c, c) !== a) expect.fail(`⌊${a}·${c}/${c}⌋`)
      if (a > 0 && mulDivFloor(a, c - 1, c) !== oracle(a, c - 1, c)) expect.fail(`⌊${a}·${c - 1}/${c}⌋`)
    }
    expect(mulDivFloor(153_000, 100e9, 100e9)).toBe(153_000)
    expect(mulDivFloor(12_240, 100e9, 8e9)).toBe(153_000)
  })
})
