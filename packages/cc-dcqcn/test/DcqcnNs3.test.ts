import type { PathInfo } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type DcqcnNs3Options, dcqcn } from "../src/index.ts"
import { ack, Clockwork, path } from "./feedback.ts"

const ALPHA = 0
const CUT = 1
const INCREASE = 2

const NS = 1000
const US = 1e6

/** g 0.5 keeps the arithmetic exact. α each µs, cuts each 4 µs, increases each 300 µs, 20 and 200 Mb/s. */
const start = (options: Partial<DcqcnNs3Options> = {}, on: PathInfo = path): Clockwork =>
  new Clockwork(dcqcn({ variant: "ns3", ewmaGain: 0.5, ...options }).make(0, on))

describe("dcqcn/ns3", () => {
  it("starts at line rate, without a window, all timers idle", () => {
    const { controller } = start()
    expect([controller.rate, controller.window, controller.nextTimer]).toEqual([100e9, Infinity, Infinity])
    expect(controller.onAck(0, ack(false))).toBe(false)
    expect(controller.nextTimer).toBe(Infinity)
  })

  it("the first notification starts the timers, the cut 1 ns after an update of α, and leaves the rate", () => {
    const { controller } = start()
    expect(controller.onAck(10 * US, ack(true))).toBe(true)
    expect([...controller.timers!.due]).toEqual([11 * US, 14 * US + NS, Infinity])
    expect(controller.rate).toBe(100e9)
    expect(controller.metrics()).toMatchObject({ alpha: 1, targetRateBps: 100e9, notifications: 1, cuts: 0 })
    // The next one only leaves a note for the timers.
    expect(controller.onAck(10 * US, ack(true))).toBe(false)
    expect([...controller.timers!.due]).toEqual([11 * US, 14 * US + NS, Infinity])
  })

  it("a CNP counts as a marked acknowledgement does", () => {
    const { controller } = start()
    expect(controller.onCnp(10 * US)).toBe(true)
    expect([...controller.timers!.due]).toEqual([11 * US, 14 * US + NS, Infinity])
    expect(controller.onCnp(10 * US)).toBe(false)
    expect(controller.metrics().notifications).toBe(2)
  })

  it("α: (1 − g)·α + g after a period with a notification, (1 − g)·α after one without", () => {
    const clock = start()
    clock.mark(0)
    const alphas: Array<number | undefined> = []
    // The first does not count for α. Notifications at 1.5 and 2.5 µs: 0.5, 0.25 + 0.5, 0.375 + 0.5, 0.4375.
    for (const [at, end] of [
      [undefined, 1],
      [1.5, 2],
      [2.5, 3],
      [undefined, 4],
    ] as const) {
      if (at !== undefined) expect(clock.mark(at * US)).toBe(false)
      clock.runTo(end * US)
      alphas.push(clock.controller.metrics().alpha)
    }
    expect(alphas).toEqual([0.5, 0.75, 0.875, 0.4375])
    expect(clock.fired.every(([timer, , ran]) => timer === ALPHA && !ran)).toBe(true)
  })

  it("the cut: rate·(1 − α/2), the target stays, the increase is due RP_TIMER later", () => {
    const clock = start()
    clock.mark(0)
    clock.runTo(4 * US + NS)
    // α = 0.5^4 = 1/16 by then: 100 G · 31/32.
    expect(clock.fired.at(-1)).toEqual([CUT, 4 * US + NS, true])
    expect(clock.controller.rate).toBe(96.875e9)
    expect(clock.controller.metrics()).toMatchObject({ targetRateBps: 100e9, stage: 0, cuts: 1 })
    expect(clock.controller.timers!.due[INCREASE]).toBe(304 * US + NS)
    // Nothing has come since: the next period passes without a cut.
    clock.runTo(8 * US + NS)
    expect(clock.fired.at(-1)).toEqual([CUT, 8 * US + NS, false])
    expect(clock.controller.rate).toBe(96.875e9)
  })

  it("order (B41): α first by 1 ns, or the cut first by 1 ns", () => {
    const clock = start({ order: "cut-first" })
    clock.mark(0)
    expect([...clock.controller.timers!.due]).toEqual([1 * US + NS, 4 * US, Infinity])
    clock.runTo(4 * US + NS)
    // Three updates of α before the cut: 100 G · (1 − 1/16).
    expect(clock.controller.rate).toBe(93.75e9)
    expect(clock.controller.metrics().alpha).toBe(0.0625)
  })

  it("the rate at the first notification (B41): a factor, 1 by default, 0 as on some adapters", () => {
    const half = start({ rateOnFirstCnp: 0.5 })
    half.mark(0)
    expect([half.controller.rate, half.controller.metrics().targetRateBps]).toEqual([50e9, 50e9])
    const none = start({ rateOnFirstCnp: 0 })
    none.mark(0)
    expect([none.controller.rate, none.controller.metrics().targetRateBps]).toEqual([1e9, 1e9])
  })

  it("truncates to whole bit/s", () => {
    const clock = start({ ewmaGain: 1 / 256 })
    clock.mark(0)
    clock.runTo(4 * US + NS)
    // (255/256)^4 / 2 = 4,228,250,625 / 8,589,934,592 = 0.49223315727…: 50,776,684,272.57.
    expect(clock.controller.rate).toBe(50_776_684_272)
  })

  it("without a clamp further cuts leave the target; with it, or after an increase, it comes down to the rate", () => {
    const second = (clock: Clockwork): Clockwork => {
      clock.mark(0)
      clock.mark(5.5 * US)
      return clock.runTo(8 * US + NS)
    }
    // α at 5, 6, 7, 8 µs: 1/32, 33/64, 33/128, 33/256; 96.875 G · (1 − 33/512) = 90,631,103,515.625.
    const loose = second(start())
    expect([loose.controller.rate, loose.controller.metrics().targetRateBps]).toEqual([90_631_103_515, 100e9])
    const clamped = second(start({ clampTargetRate: true }))
    expect([clamped.controller.rate, clamped.controller.metrics().targetRateBps]).toEqual([90_631_103_515, 96.875e9])
    // One increase, to half of 90,631,103,515 and half of 100 G, each cut to a whole number; then a cut at 312.001 µs.
    loose.mark(309 * US)
    expect([loose.controller.rate, loose.controller.metrics().stage]).toEqual([95_315_551_757, 1])
    loose.runTo(312 * US + NS)
    expect(loose.controller.metrics()).toMatchObject({ targetRateBps: 95_315_551_757, stage: 0, cuts: 3 })
  })

  it("fast recovery, then R_AI once, then R_HAI", () => {
    const clock = start({ clampTargetRate: true })
    clock.mark(0)
    clock.mark(5.5 * US)
    // As above: rate 90,631,103,515, target 96.875 G, at 8.001 µs.
    clock.runTo(308 * US + NS)
    expect(clock.fired.at(-2)).toEqual([INCREASE, 308 * US + NS, true])
    // 45,315,551,757 + 48,437,500,000.
    expect(clock.controller.rate).toBe(93_753_051_757)
    clock.runTo(608 * US + NS)
    // Target 96.895 G: 46,876,525,878 + 48,447,500,000.
    expect(clock.controller.rate).toBe(95_324_025_878)
    clock.runTo(908 * US + NS)
    // Target 97.095 G: 47,662,012,939 + 48,547,500,000.
    expect(clock.controller.rate).toBe(96_209_512_939)
    expect(clock.controller.metrics()).toMatchObject({ targetRateBps: 97.095e9, stage: 3, increases: 3 })
  })

  it("FAST_RECOVERY_TIMES: as many increases leave the target", () => {
    const clock = start({ fastRecoveryTimes: 3, clampTargetRate: true })
    clock.mark(0)
    clock.mark(5.5 * US)
    clock.runTo(908 * US + NS)
    expect(clock.controller.metrics()).toMatchObject({ targetRateBps: 96.875e9, stage: 3 })
    clock.runTo(1208 * US + NS)
    expect(clock.controller.metrics()).toMatchObject({ targetRateBps: 96.895e9, stage: 4 })
  })

  it("the target never passes the line, the rate never falls below MIN_RATE", () => {
    const clock = start({ minRateBps: 60e9 })
    clock.mark(0)
    for (let us = 0.25; us < 400; us += 0.5) clock.mark(us * US)
    expect(clock.controller.rate).toBe(60e9)
    clock.runTo(5000 * US)
    expect(clock.controller.metrics().targetRateBps).toBe(100e9)
    expect(clock.controller.rate).toBeLessThanOrEqual(100e9)
  })

  it("a cut starts the time to the next increase anew; of both due at once, the one that was set first goes first", () => {
    const clock = start()
    clock.mark(0)
    clock.mark(5.5 * US)
    clock.runTo(8 * US + NS)
    expect(clock.controller.timers!.due[INCREASE]).toBe(308 * US + NS)
    // Both are due at 308.001 µs, and a notification has come: the increase was set 300 µs ago, the cut 4.
    clock.mark(307 * US)
    clock.runTo(308 * US + NS)
    expect(clock.fired.slice(-2).map(([timer]) => timer)).toEqual([INCREASE, CUT])
    expect(clock.controller.metrics()).toMatchObject({ stage: 0, cuts: 3, increases: 1 })
  })

  it("periods of one length: in one event the original sets the cut before the increase", () => {
    const clock = start({ rpTimerPs: 4 * US })
    clock.mark(0)
    clock.mark(5.5 * US)
    clock.runTo(8 * US + NS)
    // The cut at 8.001 µs takes the increase away that was due then.
    expect(clock.controller.metrics()).toMatchObject({ cuts: 2, increases: 0 })
    clock.runTo(12 * US + NS)
    expect(clock.fired.slice(-2).map(([timer]) => timer)).toEqual([CUT, INCREASE])
  })

  it("window: the bandwidth-delay product, fixed or in step with the rate", () => {
    const windows = (["none", "fixed", "variable"] as const).map((window) => {
      const clock = start({ window })
      clock.mark(0)
      return clock.runTo(4 * US + NS).controller.window
    })
    expect(windows).toEqual([Infinity, 100_000, 96_875])
  })

  it("takes run.py's settings when none are given", () => {
    const clock = new Clockwork(dcqcn({ variant: "ns3" }).make(0, path))
    clock.mark(0)
    expect([...clock.controller.timers!.due]).toEqual([1 * US, 4 * US + NS, Infinity])
    clock.runTo(4 * US + NS)
    expect(clock.controller.rate).toBe(50_776_684_272)
    // One increase and a cut bring the target below the line: then R_AI is 20 Mb/s and R_HAI 200 Mb/s.
    clock.mark(305 * US)
    clock.runTo(308 * US + NS)
    const target = clock.controller.metrics().targetRateBps ?? 0
    expect(target).toBe(75_388_342_136)
    clock.runTo(908 * US + NS)
    expect(clock.controller.metrics().targetRateBps).toBe(target + 20e6)
    clock.runTo(1208 * US + NS)
    expect(clock.controller.metrics().targetRateBps).toBe(target + 220e6)
  })
})

describe("dcqcn/ns3, options", () => {
  it("ALPHA_RESUME_INTERVAL and RATE_DECREASE_INTERVAL", () => {
    const clock = start({ alphaResumeIntervalPs: 2 * US, rateDecreaseIntervalPs: 8 * US })
    clock.mark(10 * US)
    expect([...clock.controller.timers!.due]).toEqual([12 * US, 18 * US + NS, Infinity])
  })

  it("RATE_AI and RATE_HAI: the target after fast recovery, and after one additive increase", () => {
    const steps = { rpTimerPs: 10 * US, additiveIncreaseBps: 1e9, hyperIncreaseBps: 4e9 }
    const clock = start({ ...steps, rateOnFirstCnp: 0.5 })
    clock.mark(0)
    // The cut is at 4.001 µs, increases each 10 µs from there.
    const targets = [14, 24, 34].map((time) => clock.runTo(time * US + 2 * NS).controller.metrics().targetRateBps)
    expect(targets).toEqual([50e9, 51e9, 55e9])
  })
})
