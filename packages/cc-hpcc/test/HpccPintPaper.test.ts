import type { Ack, Controller } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { type HpccPintPaperOptions, hpccPint } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/** Digests to base 2: 8 is U = 0.5, 9 is 1, 10 is 2. η 0.5: a full link asks for half the window. */
const make = (options: Partial<HpccPintPaperOptions> = {}, over: Partial<typeof path> = {}): Controller =>
  hpccPint({
    variant: "paper",
    eta: 0.5,
    maxStage: 0,
    additiveIncreaseBytes: 80,
    logBase: 2,
    ...options,
  }).make(0, { ...path, ...over })

const digest = (sequence: number, sent: number, pint: number): Ack => ({ ...ack(sequence, sent, []), pint })

describe("hpcc-pint/paper", () => {
  it("starts with W_init = B·T at line rate", () => {
    const controller = make()
    expect([controller.window, controller.rate, controller.nextTimer]).toEqual([100_000, 100e9, Infinity])
  })

  it("ComputeWind with the U of the digest, from the first acknowledgement on", () => {
    const controller = make()
    // U = 1: 100,000 / (1 / 0.5) + 80 = 50,080, which opens a round trip.
    expect(controller.onAck(0, digest(1000, 100_000, 9))).toBe(true)
    expect([controller.window, controller.metrics().referenceWindowBytes]).toEqual([50_080, 50_080])
    // Within it U = 2: 50,080 / 4 + 80 = 12,600, of the reference, which stays.
    controller.onAck(0, digest(2000, 100_000, 10))
    expect(controller.window).toBe(12_600)
    expect(controller.rate).toBeCloseTo(12.6e9, 0)
    // U = 0.5: 50,080 + 80; 100,000 is not above the end of the round trip, 100,001 is.
    controller.onAck(0, digest(100_000, 150_000, 8))
    expect(controller.metrics()).toMatchObject({ referenceWindowBytes: 50_080, fullUpdates: 1, fastReactions: 2 })
    controller.onAck(0, digest(100_001, 150_000, 8))
    expect(controller.metrics()).toMatchObject({ referenceWindowBytes: 50_160, fullUpdates: 2, utilisation: 0.5 })
  })

  it("maxStage: so many additive increases, then a multiplicative one", () => {
    const controller = make({ maxStage: 2, eta: 1 })
    // U = 2: 50,080. Then U = 0.5 < η: 50,160, 50,240, and 50,240 / 0.5 + 80, above W_init.
    controller.onAck(0, digest(1, 100_000, 10))
    const windows = [1, 2, 3].map((i) => {
      controller.onAck(0, digest(100_000 * i + 1, 100_000 * (i + 1), 8))
      return [controller.window, controller.metrics().stage]
    })
    expect(windows).toEqual([
      [50_160, 1],
      [50_240, 2],
      [100_000, 0],
    ])
  })

  it("W stays within [minWindowBytes, W_init]", () => {
    const controller = make()
    // Digest 18 is U = 512: 100,000 / 1024 + 80 = 177.7, below W_init / 100.
    controller.onAck(0, digest(1000, 100_000, 18))
    expect([controller.window, controller.rate]).toEqual([1000, 1e9])
    const lower = make({ minWindowBytes: 1 })
    lower.onAck(0, digest(1000, 100_000, 18))
    expect(lower.window).toBe(177)
  })

  it("reactions: per-ack moves the reference each time, per-rtt uses one a round trip", () => {
    const windows = (["both", "per-ack", "per-rtt"] as const).map((reaction) => {
      const controller = make({ reaction })
      for (let i = 1; i <= 3; i++) controller.onAck(0, digest(1000 * i, 100_000, 9))
      return controller.window
    })
    // 50,080 / 2 + 80 = 25,120, and again: 12,640.
    expect(windows).toEqual([25_120, 12_640, 50_080])
  })

  it("no digest: the law does not run, and it is counted", () => {
    const controller = make()
    expect(controller.onAck(0, digest(1000, 100_000, -1))).toBe(false)
    expect(controller.metrics()).toMatchObject({ unmeasured: 1, lastUpdateSequence: 0 })
  })

  it("probability: acknowledgements are chosen by hash(seed, flow, ordinal)", () => {
    const controller = make({ probability: 0.25 }, { seed: 7, flow: 3 })
    const used = Array.from({ length: 400 }, (_, i) => controller.onAck(0, digest(1000 * (i + 1), 1e6, 9)))
    expect(used).toEqual(used.map((_, i) => uniform(7 ^ 0x50494e54, 3, i) < 0.25))
    const { passedOver, fullUpdates = 0, fastReactions = 0 } = controller.metrics()
    expect(passedOver).toBe(400 - fullUpdates - fastReactions)
    expect(Math.abs(fullUpdates + fastReactions - 100)).toBeLessThan(30)
  })

  it("no window: the rate alone", () => {
    const controller = make({}, { windowBytes: 0 })
    controller.onAck(0, digest(1000, 100_000, 9))
    expect(controller.window).toBe(Infinity)
    expect(controller.rate).toBeCloseTo(50.08e9, 0)
  })

  it("ignores losses, congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onLoss(0, true), controller.onTimer(0, 0)]).toEqual([false, false, false])
  })
})
