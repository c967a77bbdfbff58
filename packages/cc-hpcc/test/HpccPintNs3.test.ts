import type { Ack, Controller } from "@rdmakit/protocol"
import { GlibcRandom } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { type HpccPintNs3Options, hpccPint } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/** Digests to base 2: 8 is U = 0.5, 9 is 1, 10 is 2. η 0.5: a full link asks for half the rate. */
const make = (options: Partial<HpccPintNs3Options> = {}, over: Partial<typeof path> = {}): Controller =>
  hpccPint({
    variant: "ns3",
    eta: 0.5,
    maxStage: 0,
    additiveIncreaseBps: 50e6,
    minRateBps: 1e9,
    logBase: 2,
    ...options,
  }).make(0, { ...path, ...over })

const digest = (sequence: number, sent: number, pint: number): Ack => ({ ...ack(sequence, sent, []), pint })

describe("hpcc-pint/ns3", () => {
  it("starts at line rate with the whole window", () => {
    const controller = make()
    expect([controller.rate, controller.window]).toEqual([100e9, 100_000])
  })

  it("the first acknowledgement opens a round trip and is not used", () => {
    const controller = make()
    expect(controller.onAck(0, digest(1000, 100_000, 12))).toBe(false)
    expect([controller.rate, controller.metrics().lastUpdateSequence]).toEqual([100e9, 100_000])
  })

  it("within a round trip the rate moves, the reference does not; at its end both", () => {
    const controller = make()
    controller.onAck(0, digest(1000, 100_000, 9))
    // U = 1, c = 2: 100 G / 2 + 50 M; the window ⌊100,000 · 50.05 / 100⌋.
    expect(controller.onAck(0, digest(2000, 100_000, 9))).toBe(true)
    expect([controller.rate, controller.window]).toEqual([50.05e9, 50_050])
    // U = 2, c = 4: 25.05 G, of the reference again.
    controller.onAck(0, digest(100_000, 150_000, 10))
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 100e9, fastReactions: 2, fullUpdates: 0 })
    expect(controller.rate).toBe(25.05e9)
    controller.onAck(0, digest(100_001, 150_000, 9))
    expect(controller.metrics()).toMatchObject({ referenceRateBps: 50.05e9, lastUpdateSequence: 150_000 })
    // U = 0.5, c = 1: multiplicative, 50.05 G + 50 M.
    controller.onAck(0, digest(100_002, 150_000, 8))
    expect(controller.rate).toBe(50.1e9)
  })

  it("truncates to whole bit/s", () => {
    const controller = make({ logBase: 1.05 })
    controller.onAck(0, digest(1000, 100_000, 0))
    // 1.05^128 / 512 = 1.00683967…; / 0.5 = 2.01367934…: 100 G / that = 49,660,339,425.…
    controller.onAck(0, digest(2000, 100_000, 128))
    const exact = 100e9 / (1.05 ** 128 / 512 / 0.5)
    expect(Number.isInteger(controller.rate)).toBe(true)
    expect(controller.rate - 50e6 - exact).toBeGreaterThan(-1.001)
    expect(controller.rate - 50e6 - exact).toBeLessThan(0.001)
  })

  it("MI_THRESH: additive increases first", () => {
    const controller = make({ maxStage: 2, eta: 1 })
    controller.onAck(0, digest(1, 100_000, 9))
    controller.onAck(0, digest(100_001, 200_000, 10))
    // c = 2: 50.05 G. Then U = 0.5: 50.1, 50.15, and 50.15 / 0.5 above the line.
    const rates = [2, 3, 4].map((i) => {
      controller.onAck(0, digest(100_000 * i + 1, 100_000 * (i + 1), 8))
      return [controller.rate, controller.metrics().stage]
    })
    expect(rates).toEqual([
      [50.1e9, 1],
      [50.15e9, 2],
      [100e9, 0],
    ])
  })

  it("never leaves [MIN_RATE, line]", () => {
    const controller = make({ additiveIncreaseBps: 0 })
    controller.onAck(0, digest(1000, 100_000, 9))
    controller.onAck(0, digest(2000, 100_000, 18))
    expect([controller.rate, controller.window]).toEqual([1e9, 1000])
  })

  it("PINT_PROB: rand() % 65536 is drawn for each acknowledgement, and must be below 65536 · p", () => {
    const random = new GlibcRandom()
    const draws = new GlibcRandom()
    const controller = make({ probability: 0.25, random })
    let first = true
    for (let i = 0; i < 200; i++) {
      const used = (draws.bits() & 0xffff) < 16_384
      expect(controller.onAck(0, digest(1000 * (i + 1), 1e6, 9))).toBe(used && !first)
      if (used) first = false
    }
    // One sequence: it has moved by as many.
    expect(random.bits()).toBe(draws.bits())
    const never = make({ probability: 0 })
    for (let i = 0; i < 20; i++) expect(never.onAck(0, digest(1000 * (i + 1), 1e6, 18))).toBe(false)
  })

  it("no digest: the law does not run, and it is counted; a draw it takes all the same", () => {
    const random = new GlibcRandom()
    const controller = make({ random })
    controller.onAck(0, digest(1000, 100_000, 9))
    expect(controller.onAck(0, digest(100_001, 200_000, -1))).toBe(false)
    expect(controller.metrics()).toMatchObject({ unmeasured: 1, lastUpdateSequence: 100_000 })
    expect(random.bits()).toBe(1_681_692_777)
  })

  it("varWin false: the window stays; none where the run gives none", () => {
    const fixed = make({ varWin: false })
    const none = make({}, { windowBytes: 0 })
    for (const controller of [fixed, none]) {
      controller.onAck(0, digest(1000, 100_000, 9))
      controller.onAck(0, digest(2000, 100_000, 9))
    }
    expect([fixed.rate, fixed.window, none.rate, none.window]).toEqual([50.05e9, 100_000, 50.05e9, Infinity])
  })

  it("ignores losses, congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onLoss(0, true), controller.onTimer(0, 0)]).toEqual([false, false, false])
  })
})

/**
 * 1,200 acknowledgements whose digests lie around or below a full link, in turns of 100, drawn from the 32-bit generator
 * of Numerical Recipes. The expected lines are rate, reference rate (bit/s) and stage after every hundredth, from a
 * separate C++ program with 64-bit integers, glibc's pow and its rand().
 */
describe("hpcc-pint/ns3, golden sequences", () => {
  const replay = (options: Partial<HpccPintNs3Options>, full: number): ReadonlyArray<ReadonlyArray<unknown>> => {
    let state = 1
    const draw = (bound: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state >>> 8) % bound
    }
    const controller = make({ eta: 0.95, random: new GlibcRandom(), ...options })
    const lines: Array<ReadonlyArray<unknown>> = []
    for (let i = 0; i < 1200; i++) {
      const sequence = 1000 * (i + 1)
      const sent = sequence + 1000 * draw(60)
      const calm = Math.floor(i / 100) % 2 === 1
      controller.onAck(0, digest(sequence, sent, calm ? full - 60 + draw(60) : full - 25 + draw(40)))
      const { referenceRateBps, stage } = controller.metrics()
      if (i % 100 === 99) lines.push([controller.rate, referenceRateBps, stage])
    }
    return lines
  }

  it("every acknowledgement, base 1.05, MI_THRESH 0", () => {
    expect(replay({ logBase: 1.05 }, 128)).toEqual([
      [100000000000, 100000000000, 0],
      [100000000000, 100000000000, 0],
      [100000000000, 100000000000, 0],
      [100000000000, 100000000000, 0],
      [89144373696, 67106084663, 0],
      [100000000000, 100000000000, 0],
      [100000000000, 81557090009, 0],
      [100000000000, 100000000000, 0],
      [92814036088, 84927522226, 0],
      [100000000000, 100000000000, 0],
      [23921016731, 47705507442, 0],
      [100000000000, 100000000000, 0],
    ])
  })

  it("one in four, base 1.01, MI_THRESH 3", () => {
    expect(replay({ logBase: 1.01, probability: 0.25, maxStage: 3 }, 627)).toEqual([
      [94109302566, 94059302566, 0],
      [94209302566, 94209302566, 3],
      [92025429338, 92025429338, 2],
      [100000000000, 92075429338, 3],
      [75177282423, 75177282423, 1],
      [74528107116, 74478107116, 2],
      [75109681328, 75059681328, 0],
      [75209681328, 75159681328, 2],
      [51267054628, 51217054628, 0],
      [75614413364, 51367054628, 3],
      [51816428308, 62048867023, 2],
      [72714908437, 72714908437, 0],
    ])
  })
})
