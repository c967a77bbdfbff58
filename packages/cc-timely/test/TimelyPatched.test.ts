import { dumbbell } from "@rdmakit/conformance"
import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TimelyPatchedOptions, timely, timelyPresets } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/** α 1, β 0.5, δ 40 Mb/s. T_low 50 µs, T_high 1 ms, minRTT 2 µs. */
const make = (options: Partial<TimelyPatchedOptions> = {}): Controller =>
  timely({ variant: "patched", alpha: 1, beta: 0.5, ...options }).make(0, path)

const feed = (controller: Controller, nowNs: number, rttNs: number): boolean =>
  controller.onAck(nowNs * 1000, ack(1000, 100_000, rttNs))

/** Gb/s, compared to the bit/s. */
const expectRate = (controller: Controller, gbps: number): void => expect(controller.rate / 1e9).toBeCloseTo(gbps, 8)

describe("timely/patched", () => {
  it("weighs the distance from T_low by the gradient, and δ by the rest", () => {
    const controller = make()
    // The RTT before the first is minRTT: diff 58 µs, gradient 29, w = 1. error = (60 − 50)/50 = 0.2.
    // 10 µs have passed, more than minRTT: share 1. 100 G · (1 − 0.5·1·0.2) = 90 G.
    expect(feed(controller, 10_000, 60_000)).toBe(true)
    expectRate(controller, 90)
    // Gradient 0: w = 0.5: 90 G · (1 − 0.5·0.5·0.2) + 40 M · 0.5 = 85.52 G.
    feed(controller, 20_000, 60_000)
    expectRate(controller, 85.52)
    // 1 µs later, half a minRTT: share 0.5: 85.52 G · (1 − 0.25·0.5·0.2) + 20 M · 0.5 = 83.392 G.
    feed(controller, 21_000, 60_000)
    expectRate(controller, 83.392)
    // 60 → 60.2 µs: gradient 0.1, w = 0.7, error 0.204: 83.392 G · (1 − 0.5·0.7·0.204) + 40 M · 0.3.
    feed(controller, 31_000, 60_200)
    expectRate(controller, 83.392 * 0.9286 + 0.012)
    // 60.2 → 59.7 µs: gradient −0.25, w = 0: δ.
    feed(controller, 41_000, 59_700)
    expectRate(controller, 83.392 * 0.9286 + 0.052)
  })

  it("below T_low adds δ, above T_high cuts by the RTT, and no step more than halves", () => {
    const controller = make()
    // 2 ms: 1 − 0.5·(1 − 1/2) = 0.75.
    feed(controller, 10_000, 2_000_000)
    expectRate(controller, 75)
    feed(controller, 20_000, 40_000)
    expectRate(controller, 75.04)
    // 40 → 900 µs: w = 1, error 17: 1 − 8.5 is below one half.
    feed(controller, 30_000, 900_000)
    expectRate(controller, 37.52)
  })

  it("passes over samples below minRTT, and unset stamps, and counts both (B40)", () => {
    const controller = make()
    expect([feed(controller, 10_000, 1999), feed(controller, 20_000, Number.NaN)]).toEqual([false, false])
    expect(controller.metrics()).toMatchObject({ belowMinRtt: 1, unstamped: 1, increases: 0, decreases: 0 })
  })

  it("law gradient: TIMELY's own decrease, and five δ after five falling RTTs", () => {
    const controller = make({ law: "gradient", minRttPs: 20e6 })
    // Before the first stands minRTT: 20 → 60 µs: gradient 2; 1 − 0.5·0.5·2 at 10 of 20 µs: one half.
    feed(controller, 10_000, 60_000)
    expectRate(controller, 50)
    // 60 → 66 µs: gradient 0.3; share 1: 50 G · 0.85.
    feed(controller, 30_000, 66_000)
    expectRate(controller, 42.5)
    for (const [i, rttNs] of [65_000, 64_000, 63_000, 62_000].entries()) feed(controller, 50_000 + 20_000 * i, rttNs)
    expectRate(controller, 42.66)
    feed(controller, 130_000, 61_000)
    expectRate(controller, 42.86)
  })

  it("rests at its fixed point: RTT = T_low · (1 + δ / (β·R))", () => {
    // w = ½ at gradient 0, so β·½·error·R = ½·δ. Two flows at 5 Gb/s: error = 40 M / (0.008 · 5 G) = 1, RTT 100 µs.
    // 10 µs of it are the network's: 90 µs at 10 Gb/s are 112,500 bytes of queue.
    const { delivered, queueBytesMax } = dumbbell(timely(timelyPresets.patched), {
      flows: [{}, { startPs: 3e9 }],
      durationPs: 20e9,
      slices: 20,
    })
    expect(queueBytesMax[19]! / 112_500).toBeCloseTo(1, 1)
    expect(delivered[0]![19]! / delivered[1]![19]!).toBeCloseTo(1, 1)
  })
})
