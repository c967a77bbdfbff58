import { type DumbbellRun, dumbbell } from "@rdmakit/conformance"
import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type DcqcnOptions, dcqcn, dcqcnPresets } from "../src/index.ts"

/** Eight flows of 2 MB, 50 µs apart, into one link of 100 Gb/s, T 8 µs. An idle NIC sends one in 160 µs. */
const incast = (factory: ControllerFactory): DumbbellRun =>
  dumbbell(factory, {
    flows: Array.from({ length: 8 }, (_, i) => ({ bytes: 2_000_000, startPs: i * 50e6 })),
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    durationPs: 10e9,
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

const finished = (options: DcqcnOptions): string => incast(dcqcn(options)).finishedPs.join()

describe("situations from the field", () => {
  it("B42: the algorithm is really there: other completion times, and counters that count", () => {
    const runs = Object.values(dcqcnPresets).map((preset) => incast(dcqcn(preset)))
    const completions = [incast(uncontrolled), ...runs].map(({ finishedPs }) => finishedPs.join())
    expect(new Set(completions).size).toBe(1 + runs.length)
    for (const { controllers, finishedPs } of runs) {
      expect(Math.max(...finishedPs)).toBeLessThan(10e9)
      const metrics = controllers.map((each) => each.metrics())
      for (const counter of ["notifications", "cuts"] as const) {
        expect(metrics.reduce((total, each) => total + (each[counter] ?? 0), 0)).toBeGreaterThan(0)
      }
    }
  })

  it("B41: the order and the rate at the first notification each make a difference", () => {
    for (const variant of ["paper", "vendor", "ns3"] as const) {
      expect(finished({ variant, order: "cut-first" })).not.toBe(finished({ variant, order: "alpha-first" }))
    }
    expect(finished({ variant: "ns3", rateOnFirstCnp: 0.5 })).not.toBe(finished({ variant: "ns3" }))
    expect(finished({ variant: "vendor", firstCnpRateFactor: 0.5 })).not.toBe(finished({ variant: "vendor" }))
  })

  it("marked acknowledgements and CNPs slow a flow down alike, where both come once in 50 µs", () => {
    const longest = [undefined, "echo", "cnp"].map((notification) =>
      Math.max(
        ...incast(
          notification === undefined ? uncontrolled : dcqcn({ variant: "paper", notification: notification as "cnp" }),
        ).queueBytesMax,
      ),
    )
    const [none, echo, cnp] = longest as [number, number, number]
    expect(echo).toBeLessThan(0.9 * none)
    expect(Math.abs(echo - cnp) / cnp).toBeLessThan(0.1)
  })

  it("the window is what holds the queue down: DCQCN+win", () => {
    const longest = (name: "simulation" | "simulation+w"): number =>
      Math.max(...incast(dcqcn(dcqcnPresets[name])).queueBytesMax)
    // Eight bandwidth-delay products at most, 800 KB; without a window all 16 MB may come.
    expect(longest("simulation+w")).toBeLessThanOrEqual(800_000)
    expect(longest("simulation")).toBeGreaterThan(2 * longest("simulation+w"))
  })
})
