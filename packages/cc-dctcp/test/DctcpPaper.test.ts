import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type DctcpPaperOptions, dctcp } from "../src/index.ts"
import { ack, MARK, path } from "./feedback.ts"

/** g 0.5 keeps the arithmetic exact. W_init is 100,000 bytes, a packet 1,000. */
const make = (options: Partial<DctcpPaperOptions> = {}, over: Partial<typeof path> = {}): Controller =>
  dctcp({ variant: "paper", g: 0.5, ...options }).make(0, { ...path, ...over })

describe("dctcp/paper, the estimator (RFC 8257 §3.3)", () => {
  it("starts at line rate with the bandwidth-delay product, and α at 1", () => {
    const controller = make()
    expect([controller.rate, controller.window, controller.nextTimer]).toEqual([100e9, 100_000, Infinity])
    expect(controller.metrics().alpha).toBe(1)
  })

  it("measures the share of marked bytes over a window of data", () => {
    const controller = make()
    // The first acknowledgement ends the first window: M = 0 / 1000; α = 1·½ + ½·0 = 0.5; the next ends at 100,000.
    controller.onAck(0, ack(1000, 100_000))
    expect(controller.metrics()).toMatchObject({ alpha: 0.5, windowEnd: 100_000, ackedBytes: 0 })
    // 24,000 of 99,000 + 1,000 bytes marked: not before 100,000 is passed.
    controller.onAck(0, ack(25_000, 120_000, MARK, 24_000))
    controller.onAck(0, ack(100_000, 150_000, false, 75_000))
    expect(controller.metrics()).toMatchObject({ alpha: 0.5, ackedBytes: 99_000, markedBytes: 24_000 })
    controller.onAck(0, ack(101_000, 160_000))
    // M = 24,000 / 100,000 = 0.24; α = 0.25 + 0.12.
    expect(controller.metrics()).toMatchObject({ alpha: 0.37, windowEnd: 160_000, markedBytes: 0, estimates: 2 })
  })

  it("counts bytes, not acknowledgements", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000))
    // One acknowledgement of 99,000 marked bytes, one of 1,000 unmarked: M = 0.99.
    controller.onAck(0, ack(100_000, 150_000, MARK, 99_000))
    controller.onAck(0, ack(101_000, 150_000, false, 1000))
    expect(controller.metrics().alpha).toBeCloseTo(0.25 + 0.495, 14)
  })
})

describe("dctcp/paper, the window", () => {
  it("a mark cuts it by α/2, once for every window of data", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000, MARK))
    // α = ½ + ½·1 = 1: 100,000 · (1 − ½).
    expect(controller.window).toBe(50_000)
    expect(controller.onAck(0, ack(2000, 100_000, MARK))).toBe(false)
    expect(controller.onAck(0, ack(100_000, 120_000, MARK, 98_000))).toBe(false)
    expect(controller.window).toBe(50_000)
    // Past 100,000: M = 99,000 + 1,000 of 100,000; α = 1 again: 25,000.
    expect(controller.onAck(0, ack(101_000, 130_000, MARK))).toBe(true)
    expect(controller.window).toBe(25_000)
    expect(controller.metrics()).toMatchObject({ decreases: 2, marks: 4 })
  })

  it("without marks it grows by a packet a round trip", () => {
    const controller = make()
    // 100,000 bytes out: 1000 · 1000 / 100,000 = 10.
    expect(controller.onAck(0, ack(1000, 100_000))).toBe(true)
    expect(controller.window).toBe(100_010)
    // An acknowledgement of 100,010 bytes at once: 1000 · 100,010 / 100,010.
    controller.onAck(0, ack(101_010, 201_010, false, 100_010))
    expect(controller.window).toBe(101_010)
    const faster = make({ additiveIncreaseBytes: 5000 })
    faster.onAck(0, ack(1000, 100_000))
    expect(faster.window).toBe(100_050)
  })

  it("does not grow on a marked acknowledgement, nor while it is not what limits the flow", () => {
    const controller = make()
    // 98,000 + 1,000 bytes were out: a packet more would not have filled 100,000.
    expect(controller.onAck(0, ack(1000, 99_000))).toBe(false)
    expect(controller.onAck(0, ack(2000, 101_001, false))).toBe(true)
    const cut = make()
    cut.onAck(0, ack(1000, 100_000, MARK))
    expect(cut.onAck(0, ack(2000, 100_000, MARK))).toBe(false)
    expect(cut.metrics().increases).toBe(0)
  })

  it("stays within its floor, two packets, and its ceiling", () => {
    const controller = make({}, { windowBytes: 3000 })
    controller.onAck(0, ack(1000, 3000, MARK))
    // 1,500, below 2,000.
    expect(controller.window).toBe(2000)
    const lower = make({ minWindowBytes: 1 }, { windowBytes: 3000 })
    lower.onAck(0, ack(1000, 3000, MARK))
    expect(lower.window).toBe(1500)
    const capped = make({ maxWindowBytes: 100_004 })
    capped.onAck(0, ack(1000, 100_000))
    expect(capped.window).toBe(100_004)
  })

  it("slow start doubles it in a round trip, until the first mark", () => {
    const controller = make({ start: "slow-start" })
    expect(controller.window).toBe(10_000)
    for (let i = 1; i <= 10; i++) controller.onAck(0, ack(1000 * i, 1000 * i + 9000 + 1000 * (i - 1)))
    expect(controller.window).toBe(20_000)
    // α is 1·½ after the first acknowledgement, whose window ended; at 10,000 it has not ended again. 20,000 · ¾.
    controller.onAck(0, ack(11_000, 30_000, MARK))
    expect(controller.metrics()).toMatchObject({ thresholdBytes: controller.window })
    const window = controller.window
    controller.onAck(0, ack(12_000, 12_000 + window))
    // Congestion avoidance: 1000 · 1000 / W.
    expect(controller.metrics().windowBytes).toBeCloseTo(window + 1e6 / window, 8)
    expect(make({ start: "slow-start", initialWindowBytes: 4000 }).window).toBe(4000)
  })

  it("pacing spreads it over the base RTT", () => {
    const controller = make({ pacing: true })
    controller.onAck(0, ack(1000, 100_000, MARK))
    expect([controller.window, controller.rate]).toEqual([50_000, 50e9])
    controller.onAck(0, ack(101_000, 151_000))
    expect(make({ pacing: true }, { windowBytes: 1000 }).rate).toBe(100e9)
    const unpaced = make()
    unpaced.onAck(0, ack(1000, 100_000, MARK))
    expect(unpaced.rate).toBe(100e9)
  })

  it("where the run gives no window, it is the line rate times the base RTT", () => {
    expect(make({}, { windowBytes: 0 }).window).toBe(100_000)
  })
})

describe("dctcp/paper, after a silence (RFC 5681 §4.1)", () => {
  const MS = 1e9

  /** A slow start from ten packets to 20, all of them out: ten acknowledgements, each for a packet. */
  const grown = (options: Partial<DctcpPaperOptions> = {}): Controller => {
    const controller = make({ start: "slow-start", ...options })
    for (let packet = 1; packet <= 10; packet++) controller.onAck(0, ack(1000 * packet, 8000 + 2000 * packet))
    return controller
  }
  /** What is out is acknowledged too, a packet more leaves at once and is acknowledged, and the next after a silence. */
  const pause = (options: Partial<DctcpPaperOptions>, silencePs: number): Controller => {
    const controller = grown(options)
    controller.onAck(0, ack(28_000, 28_000, false, 18_000))
    controller.onSent(1, 1000)
    controller.onAck(2, ack(29_000, 29_000))
    controller.onSent(1 + silencePs, 1000)
    return controller
  }
  const windowAfter = (silencePs: number, options: Partial<DctcpPaperOptions> = {}): number =>
    pause(options, silencePs).window

  it("begins with its first window, after more than the least timeout", () => {
    expect([windowAfter(200 * MS), windowAfter(200 * MS + 1)]).toEqual([20_000, 10_000])
    const leastTimeoutPs = 5 * MS
    expect([windowAfter(5 * MS, { leastTimeoutPs }), windowAfter(6 * MS, { leastTimeoutPs })]).toEqual([20_000, 10_000])
    expect(windowAfter(1e15, { leastTimeoutPs: Infinity })).toBe(20_000)
  })

  it("α and the threshold stay", () => {
    const { alpha, thresholdBytes } = pause({}, MS).metrics()
    expect(pause({}, 201 * MS).metrics()).toMatchObject({ alpha, thresholdBytes })
  })

  it("not while something is out, nor where the window is less", () => {
    const waiting = grown()
    waiting.onSent(0, 1000)
    waiting.onSent(1000 * MS, 1000)
    expect(waiting.window).toBe(20_000)
    const small = make({ start: "slow-start" })
    small.onSent(0, 1000)
    small.onAck(1, ack(1000, 1000, MARK))
    const before = small.window
    small.onSent(1000 * MS, 1000)
    expect(before).toBeLessThan(10_000)
    expect(small.window).toBe(before)
  })

  it("begun at line rate it keeps its window, unless a timeout is given", () => {
    const paused = (leastTimeoutPs?: number): Controller => {
      const controller = make(leastTimeoutPs === undefined ? {} : { leastTimeoutPs })
      controller.onSent(0, 100_000)
      controller.onAck(1, ack(100_000, 100_000, false, 100_000))
      controller.onSent(1000 * MS, 1000)
      return controller
    }
    expect([paused().window, paused(200 * MS).window]).toEqual([101_000, 100_000])
  })
})

describe("dctcp/paper, losses (RFC 8257 §3.5, RFC 5681)", () => {
  it("a NAK halves the window, once for every window of data", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 101_000, false, 0))
    expect(controller.onLoss(0, false)).toBe(true)
    expect(controller.window).toBe(50_000)
    controller.onAck(0, ack(50_000, 101_000, false, 0))
    expect(controller.onLoss(0, false)).toBe(false)
    controller.onAck(0, ack(101_000, 151_000, false, 0))
    expect(controller.onLoss(0, false)).toBe(true)
    expect([controller.window, controller.metrics().losses]).toEqual([25_000, 2])
  })

  it("a loss halves what was out, where that is less than the window (RFC 5681 §3.1, eq. 4)", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 20_000))
    // Duplicates, and what they let go (§3.2).
    controller.onAck(0, ack(1000, 20_000, false, 0))
    controller.onSent(0, 1000)
    controller.onAck(0, ack(1000, 22_000, false, 0))
    expect(controller.onLoss(0, false)).toBe(true)
    expect([controller.window, controller.metrics().thresholdBytes]).toEqual([10_000, 10_000])
    const few = make()
    few.onAck(0, ack(1000, 4000))
    few.onLoss(0, false)
    expect(few.window).toBe(2000)
  })

  it("of what was out before the transport went back, and what has left since the last acknowledgement", () => {
    const controller = make()
    for (let packet = 0; packet < 24; packet++) controller.onSent(0, 1000)
    controller.onAck(0, ack(4000, 4000, false, 4000))
    controller.onLoss(0, false)
    expect(controller.window).toBe(10_000)
    const silent = make()
    for (let packet = 0; packet < 20; packet++) silent.onSent(0, 1000)
    silent.onLoss(0, true)
    expect([silent.window, silent.metrics().thresholdBytes]).toEqual([1000, 10_000])
    // Sent again, and again in vain.
    silent.onSent(0, 1000)
    silent.onLoss(0, true)
    expect(silent.metrics().thresholdBytes).toBe(10_000)
  })

  it("a mark cuts the window, whatever was out (RFC 8257 §3.3)", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 20_000, MARK))
    expect([controller.window, controller.metrics().thresholdBytes]).toEqual([50_000, 50_000])
  })

  it("a timeout leaves one packet, and a slow start to half of what there was", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 101_000, false, 0))
    expect(controller.onLoss(0, true)).toBe(true)
    expect([controller.window, controller.metrics().thresholdBytes]).toEqual([1000, 50_000])
    // Again, with nothing acknowledged since: the threshold stays.
    controller.onLoss(0, true)
    expect([controller.window, controller.metrics().thresholdBytes]).toEqual([1000, 50_000])
    controller.onAck(0, ack(2000, 3000))
    expect(controller.window).toBe(2000)
    controller.onAck(0, ack(4000, 6000, false, 2000))
    // No more than a packet for one acknowledgement (RFC 5681 §3.1, eq. 2).
    expect(controller.window).toBe(3000)
  })

  it("a mark in a window of data that a loss has cut cuts it no more (RFC 3168 §6.1.2)", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 101_000, false, 0))
    controller.onLoss(0, false)
    expect(controller.onAck(0, ack(2000, 101_000, MARK))).toBe(false)
    expect(controller.onAck(0, ack(101_000, 110_000, MARK, 99_000))).toBe(false)
    expect(controller.window).toBe(50_000)
    expect(controller.onAck(0, ack(102_000, 150_000, MARK))).toBe(true)
    expect(controller.window).toBeLessThan(50_000)
  })

  it("a mark does not raise the one packet that a timeout leaves", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000, false, 0))
    controller.onLoss(0, true)
    expect(controller.onAck(0, ack(101_000, 102_000, MARK))).toBe(true)
    expect([controller.window, controller.metrics().thresholdBytes]).toEqual([1000, 2000])
  })

  it("ignores congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onTimer(0, 0)]).toEqual([false, false])
  })
})
