import { type DumbbellRun, dumbbell } from "@rdmakit/conformance"
import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { dctcp, dctcpPresets } from "../src/index.ts"

/** Eight flows of 2 MB, 50 µs apart, into one link of 100 Gb/s, T 8 µs. An idle NIC sends one in 160 µs. */
const incast = (factory: ControllerFactory): DumbbellRun =>
  dumbbell(factory, {
    flows: Array.from({ length: 8 }, (_, i) => ({ bytes: 2_000_000, startPs: i * 50e6 })),
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    durationPs: 200e9,
    slices: 1,
  })

/** No congestion control: line rate and a bandwidth-delay product for ever. */
const uncontrolled: ControllerFactory = {
  name: "uncontrolled",
  needs: [],
  make: (_now, { lineRateBps, windowBytes }) => ({
    rate: lineRateBps,
    window: windowBytes,
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
    const presets = ["paper", "tcp", "simulation"] as const
    const runs = presets.map((name) => incast(dctcp(dctcpPresets[name])))
    const completions = [incast(uncontrolled), ...runs].map(({ finishedPs }) => finishedPs.join())
    expect(new Set(completions).size).toBe(4)
    for (const { controllers, finishedPs } of runs) {
      expect(Math.max(...finishedPs)).toBeLessThan(200e9)
      const metrics = controllers.map((each) => each.metrics())
      for (const counter of ["estimates", "increases", "decreases"] as const) {
        expect(metrics.reduce((total, each) => total + (each[counter] ?? 0), 0)).toBeGreaterThan(0)
      }
    }
  })

  it("it holds the queue down where eight windows of a bandwidth-delay product would stand", () => {
    expect(Math.max(...incast(uncontrolled).queueBytesMax)).toBeGreaterThan(300_000)
    for (const name of ["paper", "tcp", "simulation"] as const) {
      expect(Math.max(...incast(dctcp(dctcpPresets[name])).queueBytesMax)).toBeLessThan(300_000)
    }
  })

  it("α follows the share of marks: a link that marks little costs little", () => {
    const { controllers, delivered } = dumbbell(dctcp(dctcpPresets.paper), {
      flows: [{}, {}],
      durationPs: 20e9,
      slices: 4,
    })
    for (const controller of controllers) expect(controller.metrics().alpha).toBeLessThan(0.3)
    const last = delivered.reduce((total, each) => total + each[3]!, 0)
    expect(last / ((10e9 / 8) * 5e-3)).toBeGreaterThan(0.98)
  })
})
