import type { Ack, Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import type { HpccNs3Options } from "../src/HpccOptions.ts"
import { hpcc } from "../src/index.ts"
import { ack, type Hop, path } from "./feedback.ts"

/** η 0.5 keeps rates whole: a full link asks for half the rate. Times in seconds are inexact, and U with them. */
const make = (options: Partial<HpccNs3Options> = {}, over: Partial<typeof path> = {}): Controller =>
  hpcc({
    variant: "ns3",
    eta: 0.5,
    maxStage: 0,
    additiveIncreaseBps: 50e6,
    minRateBps: 1e9,
    ...options,
  }).make(0, { ...path, ...over })

const feed = (controller: Controller, ...acks: ReadonlyArray<Ack>): boolean =>
  acks.map((each) => controller.onAck(0, each)).at(-1) ?? false

const B = 100e9

describe("hpcc/ns3, rate", () => {
  it("starts at line rate with the whole window", () => {
    const controller = make()
    expect([controller.rate, controller.window]).toEqual([100e9, 100_000])
  })

  it("stores the first telemetry, and the law does not run", () => {
    const controller = make()
    expect(controller.onAck(0, ack(1000, 100_000, [[1000, 0, 0, B]]))).toBe(false)
    expect(controller.rate).toBe(100e9)
    expect(controller.metrics().lastUpdateSequence).toBe(100_000)
  })

  it("a fast reaction sets the rate and leaves the reference", () => {
    const controller = make()
    // τ = 4000 ns, 50,000 B: txRate = 400,000 bit / 4 µs = 100 Gb/s, u = 1. The queue was empty: min(q) = 0.
    // U = (1·(8000 − 4000) + 1·4000) / 8000 = 1; U/η = 2; rate = 100 G / 2 + 50 M = 50.05 G.
    expect(feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[5000, 50_000, 9600, B]]))).toBe(
      true,
    )
    expect(controller.rate).toBe(50.05e9)
    // ⌊100,000 · 50.05 / 100⌋ = 50,050.
    expect(controller.window).toBe(50_050)
    expect(controller.metrics()).toMatchObject({
      utilisation: 1,
      referenceRateBps: 100e9,
      fastReactions: 1,
      fullUpdates: 0,
    })
    // The next reaction starts from 100 G again: τ = 4000 ns, 25,000 B: u = 0.5 + min(9600, 0)… = 0.5;
    // U = (1·4000 + 0.5·4000)/8000 = 0.75; U/η = 1.5; rate = ⌊66,666,666,666.6…⌋ + 50 M = 66,716,666,666.
    controller.onAck(0, ack(3000, 100_000, [[9000, 75_000, 0, B]]))
    expect(controller.rate).toBe(66_716_666_666)
    // ⌊100,000 · 66,716,666,666 / 10¹¹⌋ = ⌊66,716.66…⌋.
    expect(controller.window).toBe(66_716)
  })

  it("a full update moves the reference, once a round trip", () => {
    const controller = make()
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(100_000, 150_000, [[9000, 100_000, 0, B]]))
    // 100,000 is not above lastUpdateSequence = 100,000: still a fast reaction. u = 1, U = 1, rate = 50.05 G.
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 100e9, lastUpdateSequence: 100_000 })
    // τ = 8000 = T, 100,000 B: U = 1 again; rate = 50.05 G from the reference 100 G.
    controller.onAck(0, ack(101_000, 160_000, [[17_000, 200_000, 0, B]]))
    expect(controller.metrics()).toMatchObject({
      referenceRateBps: 50.05e9,
      lastUpdateSequence: 160_000,
      fullUpdates: 1,
    })
    // From 50.05 G, τ = T, 50,000 B: U = 0.5; U/η = 1; maxStage 0: rate = 50.05 G / 1 + 50 M = 50.1 G.
    controller.onAck(0, ack(102_000, 160_000, [[25_000, 250_000, 0, B]]))
    expect(controller.rate).toBe(50.1e9)
  })

  it("counts the queue in windows, by the smaller of two records and the rate of the hop", () => {
    const controller = make()
    // A 400 G hop: txRate 100 G gives 0.25; min(50,000, 80,000) · 100 G / 400 G / 100,000 = 0.125; u = 0.375, τ = T.
    // U/η = 0.75; rate = ⌊133.33… G⌋ + 50 M, above the line: 100 G.
    feed(
      controller,
      ack(1000, 100_000, [[1000, 0, 50_000, 400e9]]),
      ack(2000, 100_000, [[9000, 100_000, 80_000, 400e9]]),
    )
    expect(controller.metrics().utilisation).toBe(0.375)
    expect(controller.rate).toBe(100e9)
  })

  it("takes the hop with the largest u, and the time between that hop's stamps", () => {
    const controller = make()
    const before: ReadonlyArray<Hop> = [
      [1000, 0, 0, B],
      [1100, 0, 0, B],
      [1200, 0, 0, B],
    ]
    // u: 0.5 over 8000 ns, 1.0 over 2000 ns, 0.25 over 4000 ns. U = (1·(8000 − 2000) + 1·2000)/8000 = 1.
    const after: ReadonlyArray<Hop> = [
      [9000, 50_000, 0, B],
      [3100, 25_000, 0, B],
      [5200, 12_500, 0, B],
    ]
    feed(controller, ack(1000, 100_000, before), ack(2000, 100_000, after))
    expect(controller.metrics().utilisation).toBe(1)
    // Now u: 0, 0.25 over 2000, 0: U = (1·6000 + 0.25·2000)/8000 = 0.8125.
    const later: ReadonlyArray<Hop> = [
      [17_000, 50_000, 0, B],
      [5100, 31_250, 0, B],
      [9200, 12_500, 0, B],
    ]
    controller.onAck(0, ack(3000, 100_000, later))
    expect(controller.metrics().utilisation).toBe(0.8125)
  })

  it("caps τ at the base RTT", () => {
    const controller = make()
    // 16 µs, 50,000 B: u = 0.25 and replaces U wholly: rate = ⌊100 G / 0.5⌋ capped at the line.
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[17_000, 50_000, 0, B]]))
    expect(controller.metrics().utilisation).toBeCloseTo(0.25, 15)
  })

  it("goes on across the wrap of time and bytes", () => {
    const controller = make()
    const lastNs = 2 ** 24 - 1000
    const lastBytes = 2 ** 20 * 512 - 512 * 20
    // 1000 + 3000 ns and 10,240 + 39,760 B: 100 Gb/s again, u = 1.
    feed(controller, ack(1000, 100_000, [[lastNs, lastBytes, 0, B]]), ack(2000, 100_000, [[3000, 39_760, 0, B]]))
    expect(controller.metrics().utilisation).toBe(1)
    expect(controller.rate).toBe(50.05e9)
  })

  it("never leaves [MIN_RATE, line]", () => {
    const controller = make({ additiveIncreaseBps: 0 })
    // A queue of 200 windows: u = 1 + 200 = 201, U = 201, 100 G / 402 = 248 M, below 1 G.
    feed(controller, ack(1000, 100_000, [[1000, 0, 20e6, B]]), ack(2000, 100_000, [[9000, 100_000, 20e6, B]]))
    expect(controller.rate).toBe(1e9)
    expect(controller.window).toBe(1000)
  })
})

describe("hpcc/ns3, options", () => {
  it("maxStage: additive increase first, multiplicative when the stage is reached", () => {
    const controller = make({ maxStage: 2, eta: 1 }, {})
    const at = (i: number): Ack => ack(100_000 * i + 1, 100_000 * (i + 1), [[1000 + 8000 * i, 50_000 * i, 0, B]])
    // Every round trip u = 0.5 over T. First drop to 50 G by a full link, then watch the stages.
    feed(controller, at(0), ack(100_001, 200_000, [[9000, 200_000, 0, B]]))
    // u = 2, U = 2, c = 2: 50 G + 50 M.
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 50.05e9, stage: 0 })
    controller.onAck(0, ack(200_001, 300_000, [[17_000, 250_000, 0, B]]))
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 50.1e9, stage: 1 })
    controller.onAck(0, ack(300_001, 400_000, [[25_000, 300_000, 0, B]]))
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 50.15e9, stage: 2 })
    // Stage 2 ≥ maxStage: 50.15 G / 0.5 + 50 M is above the line.
    controller.onAck(0, ack(400_001, 500_000, [[33_000, 350_000, 0, B]]))
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 100e9, stage: 0 })
  })

  it("per-rtt (FAST_REACT 0): the other acknowledgements are not even recorded", () => {
    const controller = make({ reaction: "per-rtt" })
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]))
    expect(controller.onAck(0, ack(2000, 100_000, [[2000, 90_000, 0, B]]))).toBe(false)
    // Against the record at 1000 ns: τ = 8000, 50,000 B, U = 0.5, U/η = 1, 100 G + 50 M capped.
    expect(controller.onAck(0, ack(100_001, 200_000, [[9000, 50_000, 0, B]]))).toBe(true)
    expect(controller.metrics().utilisation).toBeCloseTo(0.5, 15)
  })

  it("per-ack: every acknowledgement moves the reference", () => {
    const controller = make({ reaction: "per-ack" })
    feed(
      controller,
      ack(1000, 100_000, [[1000, 0, 0, B]]),
      ack(2000, 100_000, [[9000, 100_000, 0, B]]),
      ack(3000, 100_000, [[17_000, 200_000, 0, B]]),
    )
    // U = 1 both times: 100 → 50.05 → 25.025 + 0.05 = 25.075 G.
    expect(controller.metrics().referenceRateBps).toBe(25.075e9)
  })

  it("SAMPLE_FEEDBACK: a fast reaction passes over empty hops, and may not run at all", () => {
    const controller = make({ sampleFeedback: true })
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]))
    expect(controller.onAck(0, ack(2000, 100_000, [[9000, 100_000, 0, B]]))).toBe(false)
    expect(controller.rate).toBe(100e9)
    // A full update takes empty hops as well, from the record that was kept: 16 µs, 200,000 B.
    expect(controller.onAck(0, ack(100_001, 200_000, [[17_000, 200_000, 0, B]]))).toBe(true)
    expect(controller.rate).toBe(50.05e9)
  })

  it("MULTI_RATE: a reference for each hop, the least of them for the flow", () => {
    const controller = make({ multiRate: true })
    feed(
      controller,
      ack(1000, 100_000, [
        [1000, 0, 0, B],
        [1000, 0, 0, B],
      ]),
      // Hop 0: u = 1, c = 2, 50.05 G. Hop 1: u = 0.75, c = 1.5, 66,716,666,666.
      ack(100_001, 200_000, [
        [9000, 100_000, 0, B],
        [9000, 75_000, 0, B],
      ]),
    )
    expect(controller.rate).toBe(50.05e9)
    controller.onAck(
      0,
      // Hop 0: u = 0.5, c = 1: 50.1 G. Hop 1: u = 1, c = 2: 33,358,333,333 + 50 M = 33,408,333,333.
      ack(200_001, 300_000, [
        [17_000, 150_000, 0, B],
        [17_000, 175_000, 0, B],
      ]),
    )
    expect(controller.rate).toBe(33_408_333_333)
  })

  it("MULTI_RATE: a hop that was idle for a round trip asks for the least rate (rdma-hw.cc, UpdateRateHp)", () => {
    const controller = make({ multiRate: true })
    // τ = T and no bytes: U = 0, and the reference's 64-bit rate divided by it is 0.
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[9000, 0, 0, B]]))
    expect(controller.rate).toBe(1e9)
    // Below the stage of a multiplicative step nothing is divided.
    const additive = make({ multiRate: true, maxStage: 5 })
    feed(additive, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[9000, 0, 0, B]]))
    expect(additive.rate).toBe(100e9)
  })

  it("unguarded: divides by a window that is none, as the reference does (rdma-hw.cc, UpdateRateHp)", () => {
    const first = ack(1000, 100_000, [[1000, 0, 960, B]])
    const empty = ack(2000, 100_000, [[9000, 100_000, 0, B]])
    const queued = ack(3000, 100_000, [[17_000, 200_000, 960, B]])
    for (const multiRate of [false, true]) {
      // Twice a queue: infinity. An empty one: 0 / 0, which is no largest u; of a hop of its own it is the line rate.
      const controller = make({ multiRate, unguarded: true }, { windowBytes: 0 })
      feed(controller, first, ack(2000, 100_000, [[5000, 50_000, 960, B]]))
      expect([controller.rate, controller.window]).toEqual([1e9, Infinity])
      controller.onAck(0, empty)
      expect(controller.rate).toBe(multiRate ? 100e9 : 1e9)
      const guarded = make({ multiRate }, { windowBytes: 0 })
      feed(guarded, first, empty, queued)
      expect(guarded.rate).toBe(50.05e9)
    }
  })

  it("unguarded: with more than five hops the rate stays (rdma-hw.cc, UpdateRateHp)", () => {
    const hops = (count: number, ...hop: Hop): Array<Hop> => Array.from({ length: count }, () => hop)
    for (const [count, expected] of [
      [5, 50.05e9],
      [6, 100e9],
    ] as const) {
      const controller = make({ unguarded: true })
      const acks = [
        ack(1000, 100_000, hops(count, 1000, 0, 0, B)),
        ack(100_001, 200_000, hops(count, 9000, 100_000, 0, B)),
      ]
      expect(feed(controller, ...acks)).toBe(count === 5)
      expect([controller.rate, controller.metrics().lastUpdateSequence]).toEqual([expected, 200_000])
    }
  })

  it("varWin false: the window stays", () => {
    const controller = make({ varWin: false })
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[9000, 100_000, 0, B]]))
    expect([controller.rate, controller.window]).toEqual([50.05e9, 100_000])
  })

  it("takes run.py's additive increase when none is given: 40 Mb/s at 100 Gb/s", () => {
    const controller = hpcc({ variant: "ns3", eta: 0.5 }).make(0, path)
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[9000, 100_000, 0, B]]))
    expect(controller.rate).toBe(50.04e9)
  })
})

describe("hpcc/ns3, feedback that is missing or odd", () => {
  it("no telemetry: the law does not run, and it is counted", () => {
    const controller = make()
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]))
    expect(controller.onAck(0, ack(100_001, 200_000, []))).toBe(false)
    expect(controller.rate).toBe(100e9)
    expect(controller.metrics()).toMatchObject({ unmeasured: 1, lastUpdateSequence: 200_000 })
  })

  it("more hops than five: records grow", () => {
    const controller = make()
    const hops = (timeNs: number, bytes: number): ReadonlyArray<Hop> =>
      Array.from({ length: 9 }, (_, i): Hop => [timeNs, i === 8 ? bytes : 0, 0, B])
    feed(controller, ack(1000, 100_000, hops(1000, 0)), ack(2000, 100_000, hops(9000, 100_000)))
    expect(controller.rate).toBe(50.05e9)
  })

  it("go-back-N: `sent` falls, and no full update comes before the old mark is passed", () => {
    const controller = make()
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 2000, [[9000, 100_000, 0, B]]))
    expect(controller.metrics()).toMatchObject({ lastUpdateSequence: 100_000, fastReactions: 1, fullUpdates: 0 })
  })

  it("ignores losses, congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onLoss(0, true), controller.onTimer(0, 0)]).toEqual([false, false, false])
    expect(controller.nextTimer).toBe(Infinity)
  })
})
