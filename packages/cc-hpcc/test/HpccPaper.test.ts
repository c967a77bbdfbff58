import type { Ack, Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import type { HpccPaperOptions } from "../src/HpccOptions.ts"
import { hpcc } from "../src/index.ts"
import { ack, type Hop, path } from "./feedback.ts"

const B = 100e9

/** η 0.5: a full link asks for half the window. W_init is 100,000 bytes, T 8 µs. */
const make = (options: Partial<HpccPaperOptions> = {}, over: Partial<typeof path> = {}): Controller =>
  hpcc({ variant: "paper", eta: 0.5, maxStage: 0, additiveIncreaseBytes: 80, ...options }).make(0, { ...path, ...over })

const feed = (controller: Controller, ...acks: ReadonlyArray<Ack>): boolean =>
  acks.map((each) => controller.onAck(0, each)).at(-1) ?? false

/** U, which goes through divisions by times: compared to 15 digits. */
const expectUtilisation = (controller: Controller, expected: number): void =>
  expect(controller.metrics().utilisation).toBeCloseTo(expected, 14)

describe("hpcc/paper, Algorithm 1", () => {
  it("starts with W_init = B·T at line rate", () => {
    const controller = make()
    expect([controller.window, controller.rate]).toEqual([100_000, 100e9])
  })

  it("the first acknowledgement leaves its records and opens a round trip", () => {
    const controller = make()
    expect(controller.onAck(0, ack(1000, 100_000, [[1000, 0, 0, B]]))).toBe(false)
    expect(controller.metrics()).toMatchObject({ lastUpdateSequence: 100_000, fullUpdates: 0, fastReactions: 0 })
  })

  it("MeasureInflight and ComputeWind, within a round trip", () => {
    const controller = make()
    // τ = 4 µs = T/2, 50,000 B: txRate = 100 Gb/s; qlen min(0, 9600) = 0; u = 1.
    // U = (1 − ½)·1 + ½·1 = 1. W = 100,000 / (1/0.5) + 80 = 50,080. R = 50.08 G.
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]))
    expect(controller.onAck(0, ack(2000, 100_000, [[5000, 50_000, 9600, B]]))).toBe(true)
    expectUtilisation(controller, 1)
    expect(controller.window).toBe(50_080)
    expect(controller.rate).toBeCloseTo(50.08e9, 0)
    // Wc has not moved: τ = T/2, 25,000 B, qlen min(9600, 0): u = 0.5; U = ½·1 + ½·0.5 = 0.75;
    // W = 100,000 / 1.5 + 80 = 66,746.66…; the window is whole bytes.
    controller.onAck(0, ack(3000, 100_000, [[9000, 75_000, 0, B]]))
    expectUtilisation(controller, 0.75)
    expect(controller.metrics().referenceWindowBytes).toBe(100_000)
    expect(controller.window).toBe(66_746)
    expect(controller.rate).toBeCloseTo((100e9 * 66_746.666_666_666_67) / 100_000, -1)
  })

  it("once a round trip moves Wc, and the next round trip begins at snd_nxt", () => {
    const controller = make()
    // τ = T, 100,000 B: u = 1, U = 1: W = 50,080 = Wc.
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(100_001, 150_080, [[9000, 100_000, 0, B]]))
    expect(controller.metrics()).toMatchObject({ referenceWindowBytes: 50_080, lastUpdateSequence: 150_080 })
    // u = 0.5, U = 0.5 = η: still multiplicative: W = 50,080 / 1 + 80 = 50,160. Not above 150,080: Wc stays.
    controller.onAck(0, ack(150_080, 200_000, [[17_000, 150_000, 0, B]]))
    expect(controller.window).toBe(50_160)
    expect(controller.metrics()).toMatchObject({ referenceWindowBytes: 50_080, fullUpdates: 1, fastReactions: 1 })
  })

  it("counts the queue: min(qlen) / (B·T) of the hop's own B", () => {
    const controller = make()
    // 400 G hop: B·T = 400,000 bytes. txRate 100 G: 0.25; min(50,000, 80,000)/400,000 = 0.125; u = 0.375, τ = T.
    feed(
      controller,
      ack(1000, 100_000, [[1000, 0, 50_000, 400e9]]),
      ack(2000, 100_000, [[9000, 100_000, 80_000, 400e9]]),
    )
    expectUtilisation(controller, 0.375)
  })

  it("takes the largest u, with its own τ, capped at T", () => {
    const controller = make()
    const before: ReadonlyArray<Hop> = [
      [1000, 0, 0, B],
      [1100, 0, 0, B],
    ]
    // u: 0.25 over 8 µs; 0.5 over 2 µs. U = ¾·1 + ¼·0.5 = 0.875.
    const after: ReadonlyArray<Hop> = [
      [9000, 25_000, 0, B],
      [3100, 12_500, 0, B],
    ]
    feed(controller, ack(1000, 100_000, before), ack(2000, 100_000, after))
    expectUtilisation(controller, 0.875)
    // 16 µs and 50,000 B on both: u = 0.25 and τ = T: U = 0.25.
    const later: ReadonlyArray<Hop> = [
      [25_000, 75_000, 0, B],
      [19_100, 62_500, 0, B],
    ]
    controller.onAck(0, ack(3000, 100_000, later))
    expectUtilisation(controller, 0.25)
  })

  it("maxStage: so many additive increases, then a multiplicative one", () => {
    const controller = make({ maxStage: 2, eta: 1 })
    // u = 2 over T: W = 100,000/2 + 80 = 50,080.
    feed(controller, ack(1, 100_000, [[1000, 0, 0, B]]), ack(100_001, 200_000, [[9000, 200_000, 0, B]]))
    const expected = [
      // U = 0.5 < η: 50,160, stage 1; 50,240, stage 2; then 50,240/0.5 + 80, above W_init.
      [50_160, 1],
      [50_240, 2],
      [100_000, 0],
    ] as const
    expected.forEach(([window, stage], i) => {
      controller.onAck(
        0,
        ack(100_001 + 100_000 * (i + 1), 200_000 + 100_000 * (i + 1), [
          [9000 + 8000 * (i + 1), 200_000 + 50_000 * (i + 1), 0, B],
        ]),
      )
      expect(controller.metrics()).toMatchObject({ referenceWindowBytes: window, stage })
    })
  })

  it("W stays within [minWindowBytes, W_init]", () => {
    // A queue of 200 W_init: U = 201: 100,000/402 + 80 = 328.8, below W_init/100 = 1000.
    const acks = [ack(1000, 100_000, [[1000, 0, 20e6, B]]), ack(2000, 100_000, [[9000, 100_000, 20e6, B]])]
    const controller = make()
    feed(controller, ...acks)
    expect([controller.window, controller.rate]).toEqual([1000, 1e9])
    const lower = make({ minWindowBytes: 1 })
    feed(lower, ...acks)
    expect(lower.window).toBe(328)
    const higher = make({ minWindowBytes: 1e9 })
    feed(higher, ...acks)
    expect(higher.window).toBe(100_000)
  })
})

describe("hpcc/paper, reactions (Figure 13)", () => {
  const acks = [
    ack(1000, 100_000, [[1000, 0, 0, B]]),
    ack(2000, 100_000, [[9000, 100_000, 0, B]]),
    ack(3000, 100_000, [[17_000, 200_000, 0, B]]),
  ]

  it("both: two acknowledgements of one round trip do not cut twice", () => {
    const controller = make()
    feed(controller, ...acks)
    expect(controller.window).toBe(50_080)
  })

  it("per-ack: they do", () => {
    const controller = make({ reaction: "per-ack" })
    feed(controller, ...acks)
    // 100,000 → 50,080 → 25,040 + 80 = 25,120.
    expect(controller.window).toBe(25_120)
  })

  it("per-ack: under a standing queue the window falls to W_AI / (1 − η/U), then climbs by W_AI, maxStage times", () => {
    const controller = make({ reaction: "per-ack", maxStage: 3, additiveIncreaseBytes: 25, minWindowBytes: 1 })
    // A record every T, the link full and 15 BDP waiting: U = 16. W ← W·η/U + W_AI ends where W does not change.
    const standing = Array.from({ length: 12 }, (_, i) =>
      ack(1000 + i, 100_000, [[1000 + 8000 * i, 100_000 * i, 1_500_000, B]]),
    )
    feed(controller, ...standing)
    const starved = 25 / (1 - 0.5 / 16)
    expect(controller.metrics().referenceWindowBytes).toBeCloseTo(starved, 9)
    // 1,000 bytes at W / T are due 8 µs · 1000 / 25.8 = 310 µs after the last: 38 round trips without feedback.
    expect((1000 * 8e12) / controller.rate).toBeCloseTo((8e6 * 1000) / starved, 0)
    // Nothing waits any more, and 1,000 bytes in T are u = 0.01: three steps of W_AI, then W·η/U + W_AI.
    const climbing = [1, 2, 3].map((step) => starved + 25 * step)
    const expected = [...climbing, climbing[2]! * 50 + 25]
    const windows = expected.map((_, i) => {
      feed(controller, ack(2000 + i, 100_000, [[97_000 + 8000 * i, 1_101_000 + 1000 * i, 0, B]]))
      return controller.metrics().referenceWindowBytes!
    })
    expect(windows).toEqual(expected.map((window) => expect.closeTo(window, 6)))
  })

  it("per-rtt: they are not looked at, and the record stays", () => {
    const controller = make({ reaction: "per-rtt" })
    expect(feed(controller, ...acks)).toBe(false)
    expect(controller.window).toBe(100_000)
    // Against the record at 1 µs: 32 µs, 200,000 B: u = 0.5 = η: W = 100,000 + 80, capped.
    expect(controller.onAck(0, ack(100_001, 200_000, [[33_000, 200_000, 0, B]]))).toBe(true)
    expectUtilisation(controller, 0.5)
  })
})

describe("hpcc/paper, feedback that is missing or odd", () => {
  it("a change of path throws the records away: the law does not run, then it does", () => {
    const controller = make()
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]))
    // The other path's port has sent 9 MB: compared, that would be 90 times the line rate.
    expect(controller.onAck(0, ack(2000, 100_000, [[9000, 9e6, 0, B]], 7))).toBe(false)
    expect(controller.window).toBe(100_000)
    expect(controller.onAck(0, ack(3000, 100_000, [[17_000, 9_050_000, 0, B]], 7))).toBe(true)
    expectUtilisation(controller, 0.5)
    expect(controller.metrics().pathChanges).toBe(1)
  })

  it("another number of hops is another path", () => {
    const controller = make()
    const nine = (timeNs: number, bytes: number): ReadonlyArray<Hop> =>
      Array.from({ length: 9 }, (): Hop => [timeNs, bytes, 0, B])
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]))
    expect(controller.onAck(0, ack(2000, 100_000, nine(9000, 0)))).toBe(false)
    expect(controller.onAck(0, ack(3000, 100_000, nine(17_000, 100_000)))).toBe(true)
    expect(controller.window).toBe(50_080)
  })

  it("no telemetry: the law does not run, and it is counted", () => {
    const controller = make()
    expect(feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, []))).toBe(false)
    expect(controller.metrics().unmeasured).toBe(1)
  })

  it("goes on across the wrap of time and bytes", () => {
    const controller = make()
    // 1000 + 7000 ns; 10,240 + 89,760 B.
    feed(
      controller,
      ack(1000, 100_000, [[2 ** 24 - 1000, 2 ** 20 * 512 - 10_240, 0, B]]),
      ack(2000, 100_000, [[7000, 89_760, 0, B]]),
    )
    expect(controller.window).toBe(50_080)
  })

  it("no window: the rate alone, W_init from the line rate and T", () => {
    const controller = make({}, { windowBytes: 0 })
    expect(controller.window).toBe(Infinity)
    feed(controller, ack(1000, 100_000, [[1000, 0, 0, B]]), ack(2000, 100_000, [[9000, 100_000, 0, B]]))
    expect(controller.window).toBe(Infinity)
    expect(controller.rate).toBeCloseTo(50.08e9, 0)
  })

  it("ignores losses, congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onLoss(0, true), controller.onTimer(0, 0)]).toEqual([false, false, false])
  })
})
