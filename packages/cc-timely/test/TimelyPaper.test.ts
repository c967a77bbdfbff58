import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TimelyPaperOptions, timely } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/** A segment a packet, α and β 0.5, δ 100 Mb/s. T_low 50 µs, T_high 500 µs, minRTT 20 µs. */
const make = (options: Partial<TimelyPaperOptions> = {}): Controller =>
  timely({
    variant: "paper",
    alpha: 0.5,
    beta: 0.5,
    additiveIncreaseBps: 100e6,
    segmentBytes: 1000,
    ...options,
  }).make(0, path)

const complete = (controller: Controller, ...rttsNs: ReadonlyArray<number>): ReadonlyArray<boolean> =>
  rttsNs.map((rttNs, i) => controller.onAck(0, ack(1000 * (i + 1), 1e9, rttNs)))

/** Gb/s, compared to the bit/s. */
const expectRate = (controller: Controller, gbps: number): void => expect(controller.rate / 1e9).toBeCloseTo(gbps, 8)

describe("timely/paper, Algorithm 1", () => {
  it("starts at line rate without a window; the first completion gives the previous RTT", () => {
    const controller = make()
    expect([controller.rate, controller.window]).toEqual([100e9, Infinity])
    expect(complete(controller, 60_000)).toEqual([false])
    expect(controller.metrics()).toMatchObject({ completions: 1, increases: 0, decreases: 0 })
  })

  it("decreases by the smoothed, normalised gradient", () => {
    const controller = make()
    // 60 → 80 µs: diff = 0.5·0 + 0.5·20 = 10 µs; gradient 0.5; factor 0.75.
    expect(complete(controller, 60_000, 80_000)).toEqual([false, true])
    expectRate(controller, 75)
    // 80 → 81 µs: diff = 5 + 0.5 = 5.5 µs; gradient 0.275; factor 0.8625.
    complete(controller, 81_000)
    expectRate(controller, 64.6875)
  })

  it("below T_low: δ, whatever the gradient and however calm", () => {
    const controller = make({ alpha: 1 })
    // 30 → 625 µs: factor 1 − 0.5·(1 − 500/625) = 0.9.
    complete(controller, 30_000, 625_000)
    expectRate(controller, 90)
    complete(controller, 30_000, 40_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000)
    expectRate(controller, 90.8)
  })

  it("between the thresholds without a positive gradient: δ, from the fifth in a row N·δ", () => {
    const controller = make({ alpha: 1 })
    complete(controller, 30_000, 625_000)
    // 60 µs four times: gradients −28.25, 0, 0, 0.
    complete(controller, 60_000, 60_000, 60_000, 60_000)
    expectRate(controller, 90.4)
    complete(controller, 60_000)
    expectRate(controller, 90.9)
    // A positive gradient starts the count over: 60 → 61 µs: 0.05, factor 0.975; then δ.
    complete(controller, 61_000, 61_000)
    expectRate(controller, 90.9 * 0.975 + 0.1)
  })

  it("T_low and T_high decide which law holds", () => {
    const rising = (lowThresholdPs: number): Controller => {
      const controller = make({ alpha: 1, lowThresholdPs })
      complete(controller, 30_000, 625_000, 60_000, 65_000)
      return controller
    }
    // From 90 Gb/s δ, then a gradient of 0.25, or another δ.
    expectRate(rising(50e6), 90.1 * 0.875)
    expectRate(rising(70e6), 90.2)
    const above = (highThresholdPs: number): Controller => {
      const controller = make({ alpha: 1, highThresholdPs })
      complete(controller, 30_000, 625_000)
      return controller
    }
    // 1 − 0.5·(1 − 600/625), or half for a gradient of 29.75.
    expectRate(above(600e6), 98)
    expectRate(above(1000e6), 50)
  })

  it("hyper-active increase: after so many, by so many δ", () => {
    const controller = make({ alpha: 1, hyperAfter: 2, hyperFactor: 3 })
    complete(controller, 30_000, 625_000, 60_000, 60_000, 60_000)
    expectRate(controller, 90 + 0.1 + 0.3 + 0.3)
  })

  it("no step more than halves the rate, unless it may (B40)", () => {
    // 60 → 160 µs: diff 50 µs; gradient 2.5; 1 − 1.25 is below 0.
    const controller = make()
    complete(controller, 60_000, 160_000)
    expectRate(controller, 50)
    const literal = make({ leastFactor: 0 })
    complete(literal, 60_000, 160_000)
    expectRate(literal, 0.1)
  })

  it("one completion event for every segment", () => {
    const controller = make({ segmentBytes: 65_536 })
    // 65 packets are 65,000 bytes; the 66th completes a segment and begins the next with 464.
    complete(controller, ...Array.from({ length: 65 }, () => 60_000))
    expect(controller.metrics().completions).toBe(0)
    complete(controller, 60_000)
    expect(controller.metrics().completions).toBe(1)
    complete(controller, ...Array.from({ length: 65 }, () => 60_000))
    expect(controller.metrics().completions).toBe(1)
    complete(controller, 60_000)
    expect(controller.metrics().completions).toBe(2)
    // One acknowledgement of ten segments is one event.
    controller.onAck(0, ack(1e6, 1e9, 60_000, 655_360))
    expect(controller.metrics().completions).toBe(3)
  })

  it("an unset stamp: no completion, and it is counted (B40)", () => {
    const controller = make()
    complete(controller, 60_000)
    expect(complete(controller, Number.NaN)).toEqual([false])
    expect(controller.metrics()).toMatchObject({ unstamped: 1, completions: 1 })
  })

  it("windows", () => {
    const fixed = make({ window: "fixed" })
    const variable = make({ window: "variable" })
    for (const controller of [fixed, variable]) complete(controller, 60_000, 80_000)
    expect([fixed.window, variable.window]).toEqual([100_000, 75_000])
  })
})
