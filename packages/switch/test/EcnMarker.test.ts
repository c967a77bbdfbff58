import { uniform } from "@rdmakit/units"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type EcnDraws, EcnMarker, HashedDraws } from "../src/index.ts"

/** Draws that a test chooses, counted. */
const scripted = (value: number): EcnDraws & { count: number } => ({
  count: 0,
  next() {
    this.count++
    return value
  },
})

/** 400 and 1,625 cells of 256 bytes. */
const KMIN = 102_400
const KMAX = 416_000
const marker = (draws: EcnDraws, pmax = 0.2, kminBytes = KMIN, kmaxBytes = KMAX) =>
  new EcnMarker(3, [{ port: 1, kminBytes, kmaxBytes, pmax }], draws)

describe("ECN marking", () => {
  it("marks nothing up to kmin and everything above kmax, without a draw", () => {
    const draws = scripted(0)
    const ecn = marker(draws)
    expect([0, 1000, KMIN].map((bytes) => ecn.marks(1, bytes))).toEqual([false, false, false])
    draws.next = () => 0.999_999
    expect([KMAX + 1, 10 * KMAX].map((bytes) => ecn.marks(1, bytes))).toEqual([true, true])
    expect(draws.count).toBe(0)
  })

  it("draws between them, against pmax · (q - kmin) / (kmax - kmin)", () => {
    // Half way: 0.1 of 0.2.
    const half = (KMIN + KMAX) / 2
    for (const [bytes, draw, marks] of [
      [half, 0.0999, true],
      [half, 0.1, false],
      [KMAX, 0.1999, true],
      [KMAX, 0.2, false],
      [KMIN + 1, 0.2 / (KMAX - KMIN) / 2, true],
      [KMIN + 1, 0.2 / (KMAX - KMIN), false],
      [KMIN + (KMAX - KMIN) / 4, 0.0499, true],
      [KMIN + (KMAX - KMIN) / 4, 0.0501, false],
    ] as const) {
      const draws = scripted(draw)
      expect(marker(draws).marks(1, bytes)).toBe(marks)
      expect(draws.count).toBe(1)
    }
  })

  it("is a step at kmax where that is below kmin", () => {
    const step = marker({ next: () => Number.NaN }, 1, 3000, 1000)
    expect([1000, 1001, 3000, 3001].map((bytes) => step.marks(1, bytes))).toEqual([false, true, true, true])
    expect(step.unmarkedBytes(1)).toBe(1000)
  })

  it("is a step where kmin equals kmax: no draw, no NaN", () => {
    const draws = scripted(Number.NaN)
    const ecn = marker(draws, 1, 30_000, 30_000)
    expect([29_999, 30_000, 30_001].map((bytes) => ecn.marks(1, bytes))).toEqual([false, false, true])
    expect(draws.count).toBe(0)
  })

  it("leaves ports without thresholds alone", () => {
    const ecn = marker(scripted(0))
    expect([0, 1e9].map((bytes) => ecn.marks(2, bytes))).toEqual([false, false])
  })

  it("marks the share that the slope says", () => {
    const ecn = marker(new HashedDraws(7, 3), 0.2)
    let marked = 0
    for (let i = 0; i < 20_000; i++) if (ecn.marks(1, (KMIN + KMAX) / 2)) marked++
    // 2,000 expected, with a standard deviation of 42.
    expect(Math.abs(marked - 2000)).toBeLessThan(170)
  })
})

describe("hashed draws", () => {
  it("depend on seed, port and ordinal alone, however the ports take turns", () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.nat(3), { maxLength: 50 }), (seed, turns) => {
        const draws = new HashedDraws(seed, 4)
        const ordinals = [0, 0, 0, 0]
        for (const port of turns) expect(draws.next(port)).toBe(uniform(seed, port, ordinals[port]!++))
      }),
    )
  })

  it("differ between ports and seeds", () => {
    const first = (seed: number, port: number) => {
      const draws = new HashedDraws(seed, 2)
      return Array.from({ length: 5 }, () => draws.next(port))
    }
    expect(first(1, 0)).not.toEqual(first(1, 1))
    expect(first(1, 0)).not.toEqual(first(2, 0))
    expect(first(1, 0)).toEqual(first(1, 0))
  })
})
