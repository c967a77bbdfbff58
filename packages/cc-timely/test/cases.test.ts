import { type DumbbellRun, dumbbell } from "@rdmakit/conformance"
import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { timely, timelyPresets } from "../src/index.ts"

/** Eight flows of 2 MB, 50 µs apart, into one link of 100 Gb/s, T 8 µs. An idle NIC sends one in 160 µs. */
const incast = (factory: ControllerFactory): DumbbellRun =>
  dumbbell(factory, {
    flows: Array.from({ length: 8 }, (_, i) => ({ bytes: 2_000_000, startPs: i * 50e6 })),
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    durationPs: 200e9,
    slices: 1,
  })

/** No congestion control: line rate for ever. */
const uncontrolled: ControllerFactory = {
  name: "uncontrolled",
  needs: [],
  make: (_now, { lineRateBps }) => ({
    rate: lineRateBps,
    window: Infinity,
    nextTimer: Infinity,
    onSent: () => {},
    onAck: () => false,
    onCnp: () => false,
    onLoss: () => false,
    onTimer: () => false,
    metrics: () => ({}),
  }),
}

describe("situations from the field", () => {
  it("B42: the algorithm is really there: other completion times, and counters that count", () => {
    const presets = ["paper", "simulation", "simulation+w", "patched", "erpc"] as const
    const runs = presets.map((name) => incast(timely(timelyPresets[name])))
    const completions = [incast(uncontrolled), ...runs].map(({ finishedPs }) => finishedPs.join())
    expect(new Set(completions).size).toBe(6)
    for (const { controllers, finishedPs } of runs) {
      expect(Math.max(...finishedPs)).toBeLessThan(200e9)
      const metrics = controllers.map((each) => each.metrics())
      // Not each: one that has sent all before its first acknowledgement has nothing left to decide.
      for (const counter of ["increases", "decreases"] as const) {
        expect(metrics.reduce((total, each) => total + (each[counter] ?? 0), 0)).toBeGreaterThan(0)
      }
    }
  })

  it("the window is what holds the queue down: TIMELY+win", () => {
    const longest = (name: "simulation" | "simulation+w"): number =>
      Math.max(...incast(timely(timelyPresets[name])).queueBytesMax)
    // Eight bandwidth-delay products at most, 800 KB; without a window all 16 MB may come.
    expect(longest("simulation+w")).toBeLessThanOrEqual(800_000)
    expect(longest("simulation")).toBeGreaterThan(2 * longest("simulation+w"))
  })

  it("without a fixed point the stream of RTTs does not settle; patched, it does", () => {
    const spread = (name: "simulation" | "patched"): number => {
      const { queueBytesMax } = dumbbell(timely(timelyPresets[name]), {
        flows: [{}, { startPs: 3e9 }],
        durationPs: 30e9,
        slices: 60,
      })
      const late = queueBytesMax.subarray(40)
      return (Math.max(...late) - Math.min(...late)) / Math.max(...late)
    }
    expect(spread("patched")).toBeLessThan(0.03)
    expect(spread("simulation")).toBeGreaterThan(0.1)
  })
})
