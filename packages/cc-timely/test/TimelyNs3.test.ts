import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TimelyNs3Options, timely } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/** α and β 0.5 keep the arithmetic exact. T_low 50 µs, T_high 500 µs, minRTT 20 µs. */
const make = (options: Partial<TimelyNs3Options> = {}): Controller =>
  timely({
    variant: "ns3",
    alpha: 0.5,
    beta: 0.5,
    additiveIncreaseBps: 100e6,
    hyperIncreaseBps: 500e6,
    minRateBps: 1e9,
    ...options,
  }).make(0, path)

/** Round trip after round trip: each acknowledgement opens a new one. Says whether each ran the law. */
const rounds = (controller: Controller, rttsNs: ReadonlyArray<number>, from = 0): ReadonlyArray<boolean> =>
  rttsNs.map((rttNs, i) =>
    controller.onAck(0, ack(1000 + 100_000 * (from + i), 1000 + 100_000 * (from + i + 1) - 1, rttNs)),
  )

describe("timely/ns3", () => {
  it("starts at line rate, without a window", () => {
    const controller = make()
    expect([controller.rate, controller.window, controller.nextTimer]).toEqual([100e9, Infinity, Infinity])
  })

  it("the first acknowledgement only gives the previous RTT", () => {
    const controller = make()
    expect(rounds(controller, [60_000])).toEqual([false])
    expect(controller.metrics()).toMatchObject({ lastRttNs: 60_000, rttDiffNs: 0, lastUpdateSequence: 100_999 })
    expect(controller.rate).toBe(100e9)
  })

  it("decreases by the gradient between the thresholds", () => {
    const controller = make()
    // 60 → 80 µs: diff = 0.5·0 + 0.5·20,000 = 10,000; gradient = 0.5; factor = 1 − 0.5·0.5 = 0.75.
    expect(rounds(controller, [60_000, 80_000])).toEqual([false, true])
    expect(controller.rate).toBe(75e9)
    // 80 → 81 µs: diff = 5000 + 500 = 5500; gradient 0.275; factor 0.8625; 75 G · 0.8625 = 64.6875 G.
    rounds(controller, [81_000], 2)
    expect(controller.rate).toBe(64.6875e9)
    expect(controller.metrics()).toMatchObject({ decreases: 2, increases: 0, stage: 0 })
  })

  it("clamps the factor at 0 and the rate at MIN_RATE (B40)", () => {
    const controller = make()
    // 60 → 160 µs: diff 50,000; gradient 2.5; factor 1 − 1.25 < 0, so 0; the rate is MIN_RATE.
    rounds(controller, [60_000, 160_000])
    expect(controller.rate).toBe(1e9)
  })

  it("equal RTTs: a gradient of 0 is an additive increase (B40)", () => {
    const controller = make()
    rounds(controller, [60_000, 80_000])
    // diff halves each time: 5000, 2500 … above 0, so first clear it: 80 → 60 µs: 0.5·10,000 − 0.5·20,000 = −5000.
    rounds(controller, [60_000], 2)
    expect(controller.rate).toBe(75.1e9)
    const flat = make({ alpha: 1 })
    // α 1 has no memory: 60 → 80: gradient 1, factor 0.5; 80 → 80: gradient 0, +100 M.
    rounds(flat, [60_000, 80_000, 80_000])
    expect(flat.rate).toBe(50.1e9)
  })

  it("below T_low increases whatever the gradient; above T_high decreases by the RTT (B40)", () => {
    const controller = make()
    // 30 → 625 µs: factor = 1 − 0.5·(1 − 500/625) = 0.9.
    rounds(controller, [30_000, 625_000])
    expect(controller.rate).toBe(90e9)
    // 625 → 49.999 µs: below T_low.
    rounds(controller, [49_999], 2)
    expect(controller.rate).toBe(90.1e9)
  })

  it("thresholds themselves belong to the middle", () => {
    const controller = make({ alpha: 1 })
    // 49 → 50 µs: not below T_low; gradient 1000/20,000 = 0.05; factor 0.975.
    rounds(controller, [49_000, 50_000])
    expect(controller.rate).toBe(97.5e9)
  })

  it("the sixth increase in a row is hyper-active; a decrease starts over", () => {
    const controller = make()
    rounds(controller, [30_000, 625_000])
    // 90 G, then five steps of 100 M, then 500 M.
    rounds(controller, [30_000, 30_000, 30_000, 30_000, 30_000], 2)
    expect(controller.rate).toBe(90.5e9)
    rounds(controller, [30_000], 7)
    expect(controller.rate).toBe(91e9)
    expect(controller.metrics().stage).toBe(6)
    rounds(controller, [625_000, 30_000], 8)
    // 91 G · 0.9 = 81.9 G, + 100 M.
    expect(controller.rate).toBe(82e9)
  })

  it("truncates rates to whole bit/s", () => {
    const controller = make({ beta: 0.8 })
    // 60 → 61.234 µs: diff 617; gradient 0.03085; factor 1 − 0.8·0.03085 = 0.97532: 97.532 G, up to rounding.
    rounds(controller, [60_000, 61_234])
    expect(Number.isInteger(controller.rate)).toBe(true)
    expect(Math.abs(controller.rate - 97.532e9)).toBeLessThanOrEqual(1)
  })

  it("updates once a round trip", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000, 60_000))
    // 100,000 is not above lastUpdateSequence.
    expect(controller.onAck(0, ack(100_000, 150_000, 80_000))).toBe(false)
    expect(controller.metrics().lastRttNs).toBe(60_000)
    expect(controller.onAck(0, ack(101_000, 200_000, 80_000))).toBe(true)
    expect(controller.rate).toBe(75e9)
  })

  it("never exceeds the line rate", () => {
    const controller = make()
    rounds(controller, [30_000, 30_000])
    expect(controller.rate).toBe(100e9)
    expect(controller.metrics().increases).toBe(1)
  })

  it("an unset stamp: the law does not run, and it is counted (B40)", () => {
    const controller = make()
    rounds(controller, [60_000])
    expect(controller.onAck(0, ack(101_000, 200_000, Number.NaN))).toBe(false)
    expect(controller.metrics()).toMatchObject({ unstamped: 1, lastUpdateSequence: 100_999 })
    expect(controller.rate).toBe(100e9)
  })

  it("window: the bandwidth-delay product, fixed or in step with the rate", () => {
    const fixed = make({ window: "fixed" })
    const variable = make({ window: "variable" })
    for (const controller of [fixed, variable]) rounds(controller, [60_000, 80_000])
    expect([fixed.window, variable.window]).toEqual([100_000, 75_000])
  })

  it("takes run.py's steps when none are given: 100 and 500 Mb/s at 100 Gb/s", () => {
    const controller = timely({ variant: "ns3", alpha: 1, beta: 0.5 }).make(0, path)
    // Gradient 1, factor 0.5: 50 G; five times 100 M; 500 M.
    rounds(controller, [60_000, 80_000, 30_000, 30_000, 30_000, 30_000, 30_000])
    expect(controller.rate).toBe(50.5e9)
    rounds(controller, [30_000], 7)
    expect(controller.rate).toBe(51e9)
  })
})
