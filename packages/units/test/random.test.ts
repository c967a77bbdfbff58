import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hash32, murmur3, Random, uniform } from "../src/index.ts"

describe("hash32", () => {
  it("is MurmurHash3, x86, 32 bits, of three words", () => {
    // Twelve zero bytes with two seeds, and the text "rdmakit-hash", through an implementation of its own.
    expect([murmur3(0, 0, 0, 0), murmur3(1, 0, 0, 0), murmur3(0x9747b28c, 0x616d6472, 0x2d74696b, 0x68736168)]).toEqual(
      MURMUR,
    )
  })

  it("never changes", () => {
    expect([0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1].map((counter) => hash32(42, 7, counter))).toEqual(HASHES)
  })

  it("flips half of the bits when one bit of its key flips", () => {
    const flips = (change: (bit: number) => readonly [number, number, number]): number => {
      let count = 0
      for (let bit = 0; bit < 32; bit++) {
        for (let trial = 0; trial < 100; trial++) {
          const [seed, stream, counter] = change(bit)
          let difference = hash32(1, 2, trial) ^ hash32(1 ^ seed, 2 ^ stream, (trial ^ counter) >>> 0)
          for (; difference !== 0; difference &= difference - 1) count++
        }
      }
      return count / (32 * 100 * 32)
    }
    for (const change of [
      (bit: number) => [1 << bit, 0, 0] as const,
      (bit: number) => [0, 1 << bit, 0] as const,
      (bit: number) => [0, 0, 1 << bit] as const,
    ]) {
      expect(flips(change)).toBeGreaterThan(0.49)
      expect(flips(change)).toBeLessThan(0.51)
    }
  })

  it("fills [0, 1) evenly along counters, streams and seeds", () => {
    const ways = [
      (n: number) => uniform(9, 4, n),
      (n: number) => uniform(9, n, 0),
      (n: number) => uniform(n, 0, 0),
      (n: number) => uniform(1, n & 63, n >> 6),
    ]
    for (const draw of ways) {
      const cells = new Array<number>(256).fill(0)
      let correlation = 0
      const draws = 65536
      for (let n = 0; n < draws; n++) {
        const u = draw(n)
        cells[Math.floor(u * 256)]!++
        correlation += (u - 0.5) * (draw(n + 1) - 0.5)
      }
      const chiSquare = cells.reduce((sum, count) => sum + (count - 256) ** 2 / 256, 0)
      // 255 degrees of freedom: the mean is 255, the standard deviation 22.6; four of them either side.
      expect(chiSquare).toBeGreaterThan(165)
      expect(chiSquare).toBeLessThan(345)
      // Neighbours' correlation coefficient has a standard deviation of 1/256.
      expect(Math.abs((correlation / draws) * 12)).toBeLessThan(4 / 256)
    }
  })
})

describe("Random", () => {
  it("repeats for the same seed and stream, and for no other", () => {
    const draw = (random: Random): ReadonlyArray<number> => Array.from({ length: 8 }, () => random.next())
    expect(draw(new Random(5, 1))).toEqual(draw(new Random(5, 1)))
    expect(draw(new Random(5, 1))).not.toEqual(draw(new Random(5, 2)))
    expect(draw(new Random(5))).not.toEqual(draw(new Random(6)))
  })

  it("forks by name, whatever was drawn before", () => {
    const random = new Random(5)
    const before = random.fork(3).next()
    random.next()
    expect(random.fork(3).next()).toBe(before)
    expect(random.fork(4).next()).not.toBe(before)
    expect(new Random(6).fork(3).next()).not.toBe(before)
    expect(random.fork(3).fork(3).next()).not.toBe(before)
  })

  it("draws below n, each number equally often", () => {
    const random = new Random(1)
    const counts = new Array<number>(6).fill(0)
    for (let i = 0; i < 60_000; i++) counts[random.int(6)]!++
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400)
    expect(random.int(1)).toBe(0)
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 2 ** 32 }), (seed, n) => {
        const draw = new Random(seed).int(n)
        expect(Number.isInteger(draw) && draw >= 0 && draw < n).toBe(true)
      }),
    )
    for (const n of [0, -1, 1.5, 2 ** 32 + 1, Number.NaN]) expect(() => random.int(n)).toThrow(RangeError)
    for (const mean of [-1, Infinity, Number.NaN]) expect(() => random.exponential(mean)).toThrow(RangeError)
    expect(random.exponential(0)).toBeCloseTo(0)
  })

  it("draws gaps whose mean and spread are the mean asked for", () => {
    const random = new Random(2)
    let sum = 0
    let squares = 0
    for (let i = 0; i < 40_000; i++) {
      const gap = random.exponential(10)
      expect(gap >= 0).toBe(true)
      sum += gap
      squares += gap * gap
    }
    const mean = sum / 40_000
    expect(mean).toBeCloseTo(10, 0)
    expect(Math.sqrt(squares / 40_000 - mean * mean)).toBeCloseTo(10, 0)
  })

  it("shuffles: the same items, every order equally often", () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.nat()), (seed, items) => {
        const shuffled = new Random(seed).shuffle([...items])
        expect(shuffled.toSorted((a, b) => a - b)).toEqual(items.toSorted((a, b) => a - b))
      }),
    )
    const random = new Random(3)
    const counts = new Map<string, number>()
    for (let i = 0; i < 6000; i++) {
      const order = random.shuffle([0, 1, 2]).join("")
      counts.set(order, (counts.get(order) ?? 0) + 1)
    }
    expect(counts.size).toBe(6)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(130)
  })

  it("gives the numbers it always gave", () => {
    const random = new Random(42)
    expect([random.bits(), random.next(), random.int(1000), random.exponential(1), random.fork(1).bits()]).toEqual(
      DRAWS,
    )
  })
})

const MURMUR = [3644920907, 1262911408, 812617513]
const HASHES = [3069820080, 474502032, 666461543, 546368951, 3822995649, 1855603859]
const DRAWS = [2992371447, 0.4913639328848777, 14, 3.2900456666522113, 998704771]
