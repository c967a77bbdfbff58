import { describe, expect, it } from "vitest"
import { type DcqcnPaperOptions, dcqcn } from "../src/index.ts"
import { ack, Clockwork, gbps, path40 } from "./feedback.ts"

const US = 1e6

/** At 40 Gb/s; g 0.5 keeps the arithmetic exact. K and the timer 55 µs, F 5, R_AI 40 Mb/s, R_HAI 200 Mb/s. */
const start = (options: Partial<DcqcnPaperOptions> = {}): Clockwork =>
  new Clockwork(dcqcn({ variant: "paper", gain: 0.5, ...options }).make(0, path40))

/** Two CNPs bring the rate to 10 Gb/s and the target to 20, α still 1. */
const twiceCut = (options: Partial<DcqcnPaperOptions> = {}): Clockwork => {
  const clock = start(options)
  clock.cnp(0)
  clock.cnp(1 * US)
  expect([gbps(clock.controller), clock.controller.metrics().targetRateBps]).toEqual([10, 20e9])
  return clock
}

describe("dcqcn/paper, Equations 1 to 4", () => {
  it("starts at line rate, all timers idle, and counts no bytes before the first notification", () => {
    const { controller } = start({ byteCounterBytes: 1000 })
    controller.onSent(0, 5000)
    expect([controller.rate, controller.window, controller.nextTimer]).toEqual([40e9, Infinity, Infinity])
    expect(controller.metrics()).toMatchObject({ alpha: 1, byteCount: 0, increases: 0 })
  })

  it("a notification: R_T = R_C, R_C = R_C·(1 − α/2), α = (1 − g)·α + g; all counters anew", () => {
    const clock = start()
    expect(clock.cnp(0)).toBe(true)
    expect(gbps(clock.controller)).toBe(20)
    expect(clock.controller.metrics()).toMatchObject({ alpha: 1, targetRateBps: 40e9, cuts: 1 })
    expect([...clock.controller.timers!.due]).toEqual([55 * US, 55 * US])
    // Two times without: α 0.25, the rate 30, then 35 G.
    clock.runTo(110 * US)
    expect(clock.controller.metrics()).toMatchObject({ alpha: 0.25, timerCount: 2 })
    expect(gbps(clock.controller)).toBe(35)
    // 35 G · (1 − 0.125); α = 0.125 + 0.5.
    clock.cnp(120 * US)
    expect(gbps(clock.controller)).toBe(30.625)
    expect(clock.controller.metrics()).toMatchObject({ alpha: 0.625, targetRateBps: 35e9, timerCount: 0, byteCount: 0 })
    expect([...clock.controller.timers!.due]).toEqual([175 * US, 175 * US])
  })

  it("order (B41): the cut first, or α first", () => {
    const rates = (["cut-first", "alpha-first"] as const).map((order) => {
      const clock = start({ order })
      clock.cnp(0)
      clock.cnp(120 * US)
      return [gbps(clock.controller), clock.controller.metrics().alpha]
    })
    // 35 G · (1 − 0.25/2), or 35 G · (1 − 0.625/2).
    expect(rates).toEqual([
      [30.625, 0.625],
      [24.0625, 0.625],
    ])
  })

  it("α decays once in K while no notification comes, the rate rises once in its own time", () => {
    const clock = start({ alphaTimerPs: 100 * US })
    clock.cnp(0)
    clock.runTo(99 * US)
    expect(clock.controller.metrics()).toMatchObject({ alpha: 1, timerCount: 1 })
    clock.runTo(200 * US)
    expect(clock.controller.metrics()).toMatchObject({ alpha: 0.25, timerCount: 3 })
    expect(clock.fired).toEqual([
      [1, 55 * US, true],
      [0, 100 * US, false],
      [1, 110 * US, true],
      [1, 165 * US, true],
      [0, 200 * US, false],
    ])
  })

  it("fast recovery halves the distance to the target; the F-th increase adds R_AI", () => {
    const clock = twiceCut()
    const rates: Array<number> = []
    for (let step = 1; step <= 6; step++) {
      clock.runTo((1 + 55 * step) * US)
      rates.push(gbps(clock.controller))
    }
    // Target 20 G four times, then 20.04 and 20.08.
    expect(rates).toEqual([15, 17.5, 18.75, 19.375, 19.7075, 19.89375])
  })

  it("the byte counter counts as the timer does, one increase a packet at most", () => {
    const clock = twiceCut({ byteCounterBytes: 3000 })
    const { controller } = clock
    const rates = [1000, 1000, 1000, 1000, 9000, 1000].map((bytes) => {
      controller.onSent(2 * US, bytes)
      return gbps(controller)
    })
    // After 3,000 and after 13,000 bytes, of which 1,000 remain; then 2,000.
    expect(rates).toEqual([10, 10, 15, 15, 17.5, 17.5])
    controller.onSent(2 * US, 1000)
    expect(controller.metrics()).toMatchObject({ byteCount: 3, timerCount: 0, increases: 3 })
    clock.cnp(3 * US)
    expect(controller.metrics()).toMatchObject({ byteCount: 0, timerCount: 0 })
  })

  it("no byte counter: the timer alone", () => {
    const { controller } = twiceCut({ byteCounterBytes: 0 })
    controller.onSent(2 * US, 1e9)
    expect(gbps(controller)).toBe(10)
  })

  it("R_AI once one has counted F, i·R_HAI once both have counted more", () => {
    const clock = twiceCut({ fastRecoverySteps: 1, byteCounterBytes: 1000 })
    const { controller } = clock
    const steps: Array<readonly [number, number | undefined]> = []
    for (let step = 1; step <= 3; step++) {
      controller.onSent(55 * step * US, 1000)
      steps.push([gbps(controller), controller.metrics().targetRateBps])
      clock.runTo((1 + 55 * step) * US)
      steps.push([gbps(controller), controller.metrics().targetRateBps])
    }
    expect(steps).toEqual([
      // (BC, T): (1, 0), (1, 1), (2, 1): + 40 M.
      [15.02, 20.04e9],
      [17.55, 20.08e9],
      [18.835, 20.12e9],
      // (2, 2), (3, 2): i = 1; (3, 3): i = 2.
      [19.5775, 20.32e9],
      [20.04875, 20.52e9],
      [20.484375, 20.92e9],
    ])
  })

  it("never falls below its least rate", () => {
    const clock = start({ minRateBps: 3e9 })
    for (let i = 0; i < 10; i++) clock.cnp(i * US)
    expect(gbps(clock.controller)).toBe(3)
  })

  it("back at line rate the increases stop, until the next notification", () => {
    const clock = start({ byteCounterBytes: 1000 })
    clock.cnp(0)
    // 20 G are halved 35 times before they are less than 1 bit/s.
    clock.runTo(34 * 55 * US)
    expect(clock.controller.rate).toBeLessThan(40e9)
    clock.runTo(36 * 55 * US)
    expect(clock.controller.rate).toBe(40e9)
    expect(clock.controller.timers!.due[1]).toBe(Infinity)
    clock.controller.onSent(36 * 55 * US, 5000)
    expect(clock.controller.metrics().byteCount).toBe(0)
    clock.cnp(3000 * US)
    expect(clock.controller.timers!.due[1]).toBe(3055 * US)
  })

  it("window: fixed, or in step with the rate", () => {
    const windows = (["none", "fixed", "variable"] as const).map((window) => twiceCut({ window }).controller.window)
    expect(windows).toEqual([Infinity, 100_000, 25_000])
  })

  it("takes the paper's settings when none are given", () => {
    const clock = new Clockwork(dcqcn({ variant: "paper" }).make(0, path40))
    clock.cnp(0)
    clock.runTo(55 * US)
    expect(clock.controller.metrics().alpha).toBe(255 / 256)
    expect(gbps(clock.controller)).toBe(30)
    // 10 MB.
    clock.controller.onSent(56 * US, 9_999_999)
    expect(clock.controller.metrics().byteCount).toBe(0)
    clock.controller.onSent(56 * US, 1)
    expect(clock.controller.metrics().byteCount).toBe(1)
  })
})

describe("what is a notification", () => {
  it("echo, the default: a marked acknowledgement, once in 50 µs", () => {
    const { controller } = start()
    const ran = [0, 1, 49.999999, 50, 99, 100].map((us) => controller.onAck(us * US, ack(true)))
    expect(ran).toEqual([true, false, false, true, false, true])
    expect(controller.onAck(200 * US, ack(false))).toBe(false)
  })

  it("CNPs count too, each, and keep acknowledgements off", () => {
    const { controller } = start()
    expect([0, 1].map((us) => controller.onCnp(us * US))).toEqual([true, true])
    expect([50, 51].map((us) => controller.onAck(us * US, ack(true)))).toEqual([false, true])
    expect(controller.metrics().notifications).toBe(3)
  })

  it("cnp: CNPs alone", () => {
    const { controller } = start({ notification: "cnp" })
    expect(controller.onAck(0, ack(true))).toBe(false)
    expect(controller.onCnp(0)).toBe(true)
    expect(dcqcn({ variant: "paper", notification: "cnp" }).needs).toEqual(["cnp"])
    expect(dcqcn({ variant: "paper" }).needs).toEqual(["ecn"])
  })

  it("losses are none", () => {
    const { controller } = start()
    expect([controller.onLoss(0, true), controller.onLoss(0, false)]).toEqual([false, false])
    expect(controller.metrics().notifications).toBe(0)
  })
})

describe("dcqcn/paper, options", () => {
  it("initialAlpha, increaseTimerPs: the first cut, and when the rate rises", () => {
    const clock = start({ initialAlpha: 0.5, increaseTimerPs: 20 * US })
    clock.cnp(0)
    expect(gbps(clock.controller)).toBe(30)
    expect([...clock.controller.timers!.due]).toEqual([55 * US, 20 * US])
  })

  it("cnpIntervalPs: marks within it are one notification", () => {
    const { controller } = start({ cnpIntervalPs: 10 * US })
    const taken = [0, 9.999, 10, 19.999].map((time) => controller.onAck(time * US, ack(true)))
    expect(taken).toEqual([true, false, true, false])
    expect(controller.metrics().notifications).toBe(2)
  })

  it("additiveIncreaseBps and hyperIncreaseBps: by one counter, then by both", () => {
    const steps = { fastRecoverySteps: 0, byteCounterBytes: 1000, additiveIncreaseBps: 1e9, hyperIncreaseBps: 4e9 }
    const clock = twiceCut(steps)
    clock.controller.onSent(1 * US, 1000)
    // The target from 20 to 21 Gb/s, and half the way there.
    expect(gbps(clock.controller)).toBe(15.5)
    clock.runTo(56 * US)
    expect(gbps(clock.controller)).toBe((15.5 + 25) / 2)
  })
})
