import { type DumbbellRun, dumbbell } from "@rdmakit/conformance"
import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { swift, swiftPresets } from "../src/index.ts"

/** Eight flows of 2 MB, 50 µs apart, into one link of 100 Gb/s, T 8 µs. An idle NIC sends one in 160 µs. */
const incast = (factory: ControllerFactory): DumbbellRun =>
  dumbbell(factory, {
    flows: Array.from({ length: 8 }, (_, i) => ({ bytes: 2_000_000, startPs: i * 50e6 })),
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    durationPs: 200e9,
    slices: 1,
  })

describe("situations from the field", () => {
  it("B42: the algorithm is really there: other completion times, and counters that count", () => {
    const presets = ["testbed", "production", "htsim"] as const
    const runs = presets.map((name) => incast(swift(swiftPresets[name])))
    expect(new Set(runs.map(({ finishedPs }) => finishedPs.join())).size).toBe(3)
    for (const { controllers, finishedPs } of runs) {
      expect(Math.max(...finishedPs)).toBeLessThan(200e9)
      const metrics = controllers.map((each) => each.metrics())
      for (const counter of ["increases", "decreases"] as const) {
        expect(metrics.reduce((total, each) => total + (each[counter] ?? 0), 0)).toBeGreaterThan(0)
      }
      for (const each of metrics) expect(each.unstamped).toBe(0)
    }
  })

  it("the delay stays near the target: two flows, 25 µs and what flow-based scaling adds", () => {
    const { controllers, delivered, queueBytesMax } = dumbbell(swift(swiftPresets.testbed), {
      flows: [{}, {}],
      durationPs: 20e9,
      slices: 4,
    })
    const target = Math.max(...controllers.map((each) => each.metrics().targetPs ?? 0))
    // The queue's share of the delay, at 10 Gb/s, with one additive increase on top of each window.
    expect((queueBytesMax[3]! * 8e12) / 10e9 + 10e6).toBeLessThan(target * 1.2)
    const last = delivered.map((slices) => slices[3]!)
    expect(Math.min(...last) / Math.max(...last)).toBeGreaterThan(0.9)
  })

  it("flow-based scaling makes small windows fair: with it, sixteen flows share more evenly than without", () => {
    const least = (flowScalingRangePs: number): number => {
      const { delivered } = dumbbell(swift({ ...swiftPresets.testbed, flowScalingRangePs }), {
        flows: Array.from({ length: 16 }, (_, i) => ({ startPs: i * 100e6 })),
        durationPs: 20e9,
        slices: 4,
      })
      const last = delivered.map((slices) => slices[3]!)
      return Math.min(...last) / Math.max(...last)
    }
    expect(least(125e6)).toBeGreaterThan(0.8)
    expect(least(125e6)).toBeGreaterThan(least(0))
  })
})
