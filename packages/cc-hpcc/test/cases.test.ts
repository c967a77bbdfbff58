import { type DumbbellRun, dumbbell } from "@rdmakit/conformance"
import type { Controller, ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type HpccOptions, hpcc, hpccPresets } from "../src/index.ts"
import { ack, type Hop, path } from "./feedback.ts"

const variants = ["paper", "ns3"] as const

const expectBounds = (controller: Controller, lineRateBps: number): void => {
  expect(controller.rate).toBeGreaterThan(0)
  expect(controller.rate).toBeLessThanOrEqual(lineRateBps)
  expect(controller.window).toBeGreaterThanOrEqual(1)
}

describe("situations from the field", () => {
  it.each(variants)("B37: any link rate, %s", (variant) => {
    // 10, 25, 40, 100 and 800 Gb/s on one path, each 8 µs at half its rate; then the 40 G link at twice.
    const rates = [10e9, 25e9, 40e9, 100e9, 800e9]
    const at = (timeNs: number, share: number, share40: number): ReadonlyArray<Hop> =>
      rates.map((rate): Hop => [timeNs, ((rate * timeNs * 1e-9) / 8) * (rate === 40e9 ? share40 : share), 0, rate])
    const controller = hpcc({ variant }).make(0, { ...path, lineRateBps: 800e9, windowBytes: 800_000 })
    controller.onAck(0, ack(1000, 800_000, at(1000, 0.5, 0.5)))
    controller.onAck(0, ack(2000, 800_000, at(9000, 0.5, 0.5)))
    expect(controller.metrics().utilisation).toBeCloseTo(0.5, 6)
    controller.onAck(0, ack(3000, 800_000, at(17_000, 0.5, 2)))
    // 17 µs · 2 − 9 µs · 0.5 = 29.5 µs of bytes at 40 Gb/s in 8 µs.
    expect(controller.metrics().utilisation).toBeCloseTo(29.5 / 8, 6)
  })

  it.each(variants)("B37: slower and faster links between hosts of any rate, %s", (variant) => {
    for (const [lineRateBps, linkRateBps] of [
      [10e9, 10e9],
      [40e9, 10e9],
      [100e9, 40e9],
      [800e9, 400e9],
    ] as const) {
      const durationPs = (1e6 * 8e12) / linkRateBps
      const { delivered } = dumbbell(hpcc({ variant, maxStage: 0 }), {
        flows: [{}, {}],
        lineRateBps,
        linkRateBps,
        durationPs,
        slices: 4,
      })
      const late = delivered.reduce((total, each) => total + each[3]!, 0)
      expect(late / ((durationPs * linkRateBps) / 4 / 8e12)).toBeGreaterThan(0.85)
    }
  })

  it.each<HpccOptions>([{ variant: "paper" }, { variant: "ns3" }, { variant: "ns3", multiRate: true }])(
    "B39: zero denominators, %o",
    (options) => {
      for (const windowBytes of [0, 100_000]) {
        const controller = hpcc(options).make(0, { ...path, windowBytes })
        const acks = [
          ack(1000, 100_000, [[1000, 0, 5000, 100e9]]),
          // The same stamp, first with the same bytes, then with more: 0/0 and n/0 in the reference.
          ack(2000, 100_000, [[1000, 0, 5000, 100e9]]),
          ack(3000, 100_000, [[1000, 4000, 5000, 100e9]]),
          ack(100_001, 200_000, [[1000, 8000, 5000, 100e9]]),
          ack(100_002, 200_000, [[9000, 108_000, 5000, 100e9]]),
        ]
        for (const each of acks) {
          controller.onAck(0, each)
          expectBounds(controller, 100e9)
          expect(Number.isFinite(controller.metrics().utilisation)).toBe(true)
        }
        // And it still measures: u = 1 and a queue of 5000 over 100,000, whether or not the run gives a window.
        const utilisation = controller.metrics().utilisation
        if (options.variant === "paper" || !options.multiRate) expect(utilisation).toBeCloseTo(1.05, 6)
      }
    },
  )
})

/** Sixteen flows into one link, 100 Gb/s, T 8 µs, 50 slices of 10 µs. */
const incast = (factory: ControllerFactory, bytes?: number): DumbbellRun =>
  dumbbell(factory, {
    flows: Array.from({ length: 16 }, () => (bytes === undefined ? {} : { bytes })),
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    durationPs: 500e6,
    slices: 50,
  })

/** Share of the link used in each slice. */
const busy = (run: DumbbellRun): ReadonlyArray<number> =>
  Array.from({ length: 50 }, (_, slice) => run.delivered.reduce((total, each) => total + each[slice]!, 0) / 125_000)

/** No congestion control: the window and the rate of an idle network, for ever. */
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

describe("sixteen to one", () => {
  it("B42: the algorithm is really there: other completion times, and counters that count", () => {
    const runs = [
      incast(uncontrolled, 300_000),
      incast(hpcc(hpccPresets.simulation), 300_000),
      incast(hpcc(hpccPresets["ns3-config"]), 300_000),
    ]
    const completions = runs.map(({ finishedPs }) => finishedPs.join())
    expect(new Set(completions).size).toBe(3)
    for (const { finishedPs } of runs) for (const each of finishedPs) expect(each).toBeLessThan(500e6)
    for (const { controllers } of runs.slice(1)) {
      for (const controller of controllers) {
        expect(controller.metrics().fastReactions).toBeGreaterThan(0)
        expect(controller.metrics().fullUpdates).toBeGreaterThan(0)
      }
    }
  })

  it.each(["paper", "simulation", "ns3-config"] as const)("%s drains the queue and keeps the link busy", (name) => {
    const run = incast(hpcc(hpccPresets[name]))
    expect(Math.max(...run.queueBytesMax.subarray(25))).toBeLessThan(20_000)
    const late = busy(run).slice(25)
    expect(Math.min(...late)).toBeGreaterThan(0.9)
  })

  it("Figure 13: per-ack overreacts and oscillates, per-rtt keeps its queue longer", () => {
    const [both, perAck, perRtt] = (["both", "per-ack", "per-rtt"] as const).map((reaction) =>
      incast(hpcc({ ...hpccPresets.simulation, reaction })),
    ) as [DumbbellRun, DumbbellRun, DumbbellRun]
    expect(Math.min(...busy(perAck).slice(10))).toBeLessThan(0.4)
    expect(Math.min(...busy(both).slice(10))).toBeGreaterThan(0.75)
    const drained = (run: DumbbellRun): number => run.queueBytesMax.findIndex((bytes) => bytes < 100_000)
    expect(drained(perRtt)).toBeGreaterThan(drained(both))
  })
})
