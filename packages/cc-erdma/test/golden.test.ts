import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type HpccFamilyOptions, hpccFamily } from "../src/index.ts"
import { ack, path, US } from "./feedback.ts"

/** η is 1.2, W_AI 1,000, W at most 120,000 bytes: all by default. */
const make = (options: HpccFamilyOptions): Controller => hpccFamily(options).make(0, path)

/** Acknowledgements as [time µs, sequence, sent, round trip µs, mark]; after each: U, window, Gb/s, Wc. */
const run = (
  controller: Controller,
  acks: ReadonlyArray<readonly [number, number, number, number, boolean?]>,
): ReadonlyArray<ReadonlyArray<number>> =>
  acks.map(([time, sequence, sent, rtt, mark]) => {
    controller.onAck(time * US, ack(sequence, sent, rtt * US, mark))
    const { utilisation, referenceWindowBytes } = controller.metrics()
    return [utilisation!, controller.window, controller.rate / 1e9, referenceWindowBytes!]
  })

describe("hpcc by round trips, worked by hand", () => {
  it("starts at line rate with the bandwidth-delay product", () => {
    const { window, rate } = make({ variant: "rtt" })
    expect([window, rate]).toEqual([100_000, 100e9])
  })

  it("u = 1 + (delay above the shortest, the smaller of two) / T; W = Wc η / U + W_AI", () => {
    const trace = run(make({ variant: "rtt" }), [
      // u 1. W = 100,000 · 1.2 + 1,000, of which 120,000 are allowed. The first opens a round trip: Wc.
      [8, 1000, 100_000, 8],
      // The smaller of 8 and 16 µs: u 1.
      [12, 2000, 101_000, 16],
      // u = 1 + 8 / 8, with the weight of half a round trip: U 1.5. W = 120,000 · 1.2 / 1.5 + 1,000.
      [16, 3000, 102_000, 16],
      // The smaller of 16 and 32: u 2, with the weight of a whole round trip. W = 120,000 · 0.6 + 1,000.
      [24, 4000, 103_000, 32],
      // u = 1 + 24 / 8. W = 120,000 · 0.3 + 1,000.
      [32, 5000, 104_000, 32],
      // The same again, and everything that was out at the first is acknowledged: Wc follows.
      [40, 100_001, 200_000, 32],
      // u 1, the queue is gone: W = 37,000 · 1.2 + 1,000.
      [48, 101_000, 201_000, 8],
    ])
    expect(trace).toEqual([
      [1, 120_000, 100, 120_000],
      [1, 120_000, 100, 120_000],
      [1.5, 97_000, 97, 120_000],
      [2, 73_000, 73, 120_000],
      [4, 37_000, 37, 120_000],
      [4, 37_000, 37, 37_000],
      [1, 45_400, 45.4, 37_000],
    ])
  })

  it("a shorter way than T is the flow's own distance; a longer one is a queue", () => {
    const near = make({ variant: "rtt" })
    // 4 µs without a queue; 8 µs are then 4 µs of queue: u 1.5.
    expect(run(near, [[8, 1000, 9000, 4]])[0]![0]).toBe(1)
    expect(
      run(near, [
        [16, 2000, 9000, 8],
        [24, 3000, 9000, 8],
      ])[1]![0],
    ).toBe(1.5)
    expect(near.metrics().leastRttPs).toBe(4 * US)
    // A flow that has never seen less than 20 µs: u = 1 + 12 / 8.
    expect(run(make({ variant: "rtt" }), [[8, 1000, 9000, 20]])[0]![0]).toBe(2.5)
  })

  it("leaves out slack: delay that is no queue's", () => {
    const trace = run(make({ variant: "rtt", slackPs: 8 * US }), [
      [8, 1000, 9000, 16],
      [16, 2000, 9000, 24],
      [24, 3000, 9000, 24],
    ])
    expect(trace.map(([u]) => u)).toEqual([1, 1, 2])
  })

  it("passes over what carries no time", () => {
    const controller = make({ variant: "rtt" })
    expect(controller.onAck(8 * US, ack(1000, 9000, Number.NaN))).toBe(false)
    expect(controller.onAck(8 * US, ack(1000, 9000, 0))).toBe(false)
    expect(controller.metrics().unmeasured).toBe(2)
    expect(controller.window).toBe(100_000)
  })
})

describe("hpcc by marks, worked by hand", () => {
  it("u is 2 with a mark, 1 without; U weighs each by the time since the one before", () => {
    const trace = run(make({ variant: "ecn" }), [
      [8, 1000, 100_000, 8],
      // A quarter of a round trip: U = ¾ + ¼ · 2. W = 120,000 · 1.2 / 1.25 + 1,000.
      [10, 2000, 101_000, 8, true],
      // U = ¾ · 1.25 + ½ = 1.4375.
      [12, 3000, 102_000, 8, true],
      // A whole one: U 2. W = 120,000 · 0.6 + 1,000, and Wc, for a round trip is over; and again.
      [20, 100_001, 200_000, 8, true],
      [28, 200_001, 300_000, 8, true],
      // The round trip goes on: W = 44,800 · 1.2 + 1,000.
      [36, 201_000, 301_000, 8],
    ])
    expect(trace).toEqual([
      [1, 120_000, 100, 120_000],
      [1.25, 116_200, 100, 120_000],
      [1.4375, 101_173, 100, 120_000],
      [2, 73_000, 73, 73_000],
      [2, 44_800, 44.8, 44_800],
      [1, 54_760, 54.76, 44_800],
    ])
  })

  it("settles where (η − 1) / (markedUtilisation − 1) of the packets are marked: U is η then, and W stays", () => {
    const controller = make({ variant: "ecn", additiveIncreaseBytes: 0 })
    controller.onLoss(0, true)
    // A fifth of them, of 100 in a round trip.
    const feed = (from: number, to: number): void => {
      for (let index = from; index < to; index++) {
        controller.onAck(index * 0.08 * US, ack(index, index + 100, 8 * US, index % 5 === 0))
      }
    }
    feed(1, 1000)
    expect(controller.metrics().utilisation).toBeCloseTo(1.2, 1)
    const { referenceWindowBytes } = controller.metrics()
    feed(1000, 10_000)
    expect(controller.metrics().referenceWindowBytes! / referenceWindowBytes!).toBeCloseTo(1, 1)
  })
})

describe.each(["rtt", "ecn"] as const)("hpcc by %s, losses", (variant) => {
  it("are no sign of congestion; a timeout halves Wc, down to the floor", () => {
    const controller = make({ variant })
    expect(controller.onLoss(0, false)).toBe(false)
    expect(controller.window).toBe(100_000)
    expect(controller.onLoss(0, true)).toBe(true)
    expect([controller.window, controller.rate]).toEqual([50_000, 50e9])
    for (let index = 0; index < 20; index++) controller.onLoss(0, true)
    expect([controller.window, controller.rate]).toEqual([100, 0.1e9])
  })

  it("keep to the floor that is given, which is never above the bandwidth-delay product", () => {
    const windows = [5000, 1e9].map((minWindowBytes) => {
      const controller = make({ variant, minWindowBytes })
      for (let index = 0; index < 20; index++) controller.onLoss(0, true)
      return controller.window
    })
    expect(windows).toEqual([5000, 100_000])
  })

  it("the window reaches up to the target's share of the bandwidth-delay product", () => {
    const controller = make({ variant, target: 1.5 })
    controller.onAck(8 * US, ack(1000, 100_000, 8 * US))
    expect(controller.window).toBe(150_000)
  })

  it("has a rate and no window where the run gives none", () => {
    const controller = hpccFamily({ variant }).make(0, { ...path, windowBytes: 0 })
    controller.onLoss(0, true)
    expect([controller.window, controller.rate]).toEqual([Infinity, 50e9])
  })
})
