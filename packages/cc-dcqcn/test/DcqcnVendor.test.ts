import { describe, expect, it } from "vitest"
import { type DcqcnVendorOptions, dcqcn, dcqcnPresets } from "../src/index.ts"
import { ack, Clockwork, gbps, path } from "./feedback.ts"

const US = 1e6
const CUT = 0
const INCREASE = 1

/** At 100 Gb/s; half of the old α and an α of 1 to start with keep the arithmetic exact. Else the adapters' defaults. */
const start = (options: Partial<DcqcnVendorOptions> = {}): Clockwork =>
  new Clockwork(dcqcn({ variant: "vendor", dceTcpG: 512, initialAlphaValue: 1024, ...options }).make(0, path))

/** First notification at 0, which sets 80 Gb/s, and another at 0.5 µs. */
const twice = (options: Partial<DcqcnVendorOptions> = {}): Clockwork => {
  const clock = start({ rateToSetOnFirstCnpBps: 80e9, ...options })
  clock.cnp(0)
  clock.cnp(0.5 * US)
  return clock
}

describe("dcqcn/vendor", () => {
  it("starts at line rate, or at rpg_max_rate, all timers idle", () => {
    const rates = [0, 50e9, 400e9].map((rpgMaxRateBps) => start({ rpgMaxRateBps }).controller.rate)
    expect(rates).toEqual([100e9, 50e9, 100e9])
    expect(start().controller.nextTimer).toBe(Infinity)
  })

  it("rate_to_set_on_first_cnp: rate and target; 0 is 85 % of the line, 50 % in earlier firmware", () => {
    const first = [{}, { firstCnpRateFactor: 0.5 }, { rateToSetOnFirstCnpBps: 10e9 }].map((options) => {
      const clock = start(options)
      expect(clock.cnp(0)).toBe(true)
      return [gbps(clock.controller), clock.controller.metrics().targetRateBps]
    })
    expect(first).toEqual([
      [85, 85e9],
      [50, 50e9],
      [10, 10e9],
    ])
  })

  it("the first notification is no reason for another cut: only the timer of increases runs", () => {
    const clock = start()
    clock.cnp(10 * US)
    expect([...clock.controller.timers!.due]).toEqual([Infinity, 310 * US])
  })

  it("dce_tcp_g, dce_tcp_rtt: α moves once a period, to 1 where a notification came in it", () => {
    // A cut shows the α of its moment. Of the four periods up to 4 µs the first has a notification:
    // 0.5·1 + 0.5, then 0.5 and 0.25 and 0.125.
    const clock = twice()
    clock.runTo(4 * US)
    expect(clock.controller.metrics().alpha).toBe(0.125)
    // One more in the seventh: 0.125 → 0.0625, 0.03125, then 0.015625 + 0.5, then 0.2578125 at 8 µs.
    clock.cnp(6.2 * US)
    clock.runTo(8 * US)
    expect(clock.controller.metrics().alpha).toBe(0.2578125)
    // As many in one period as there may be count once.
    clock.cnp(9.1 * US)
    clock.cnp(9.2 * US)
    clock.runTo(12 * US)
    // 0.12890625, 0.064453125 + 0.5, halved twice.
    expect(clock.controller.metrics().alpha).toBe(0.14111328125)
  })

  it("a cut: rate·(1 − α/2) at the end of the period in which a notification came", () => {
    const clock = twice()
    expect(clock.controller.timers!.due[CUT]).toBe(4 * US)
    clock.runTo(4 * US)
    // 80 G · (1 − 0.0625); no increase came before it, so the target stays.
    expect(gbps(clock.controller)).toBe(75)
    expect(clock.controller.metrics()).toMatchObject({ targetRateBps: 80e9, cuts: 2 })
    expect([...clock.controller.timers!.due]).toEqual([Infinity, 304 * US])
    // Periods count from the first notification; at the end of one the next has begun.
    clock.cnp(9 * US)
    expect(clock.controller.timers!.due[CUT]).toBe(12 * US)
    clock.cnp(12 * US)
    expect(clock.controller.timers!.due[CUT]).toBe(16 * US)
  })

  it("order (B41): the cut after the update of α that is due with it, or before", () => {
    const rates = (["alpha-first", "cut-first"] as const).map((order) =>
      gbps(twice({ order }).runTo(4 * US).controller),
    )
    // α 0.125 or 0.25.
    expect(rates).toEqual([75, 70])
  })

  it("rpg_gd 10 takes all of α, rpg_min_dec_fac bounds what a cut takes, rpg_min_rate the rate", () => {
    const rate = (options: Partial<DcqcnVendorOptions>): number => gbps(twice(options).runTo(4 * US).controller)
    expect(rate({ rpgGd: 10 })).toBe(70)
    // α stays 1 where nothing of the old is lost in 4 periods: 1/2, or none of it, or at least 75 %.
    const still = { dceTcpG: 1023, dceTcpRttPs: 100 * US }
    expect(rate(still)).toBe(40)
    expect(rate({ ...still, rpgGd: 10 })).toBe(40)
    expect(rate({ ...still, rpgGd: 10, rpgMinDecFac: 0 })).toBe(0.001)
    expect(rate({ ...still, rpgMinDecFac: 75 })).toBe(60)
    expect(rate({ ...still, rpgMinDecFac: 100 })).toBe(80)
    expect(rate({ ...still, rpgMinRateBps: 50e9 })).toBe(50)
  })

  it("clamp_tgt_rate, clamp_tgt_rate_after_time_inc: when a cut brings the target down", () => {
    // Cut at 4 µs, to 75 G; an increase by the timer at 304 µs, to 77.5 G; a cut at 308 µs.
    const afterTimer = (options: Partial<DcqcnVendorOptions>): number | undefined => {
      const clock = twice(options).runTo(304 * US)
      expect(gbps(clock.controller)).toBe(77.5)
      clock.cnp(305 * US)
      return clock.runTo(308 * US).controller.metrics().targetRateBps
    }
    expect(afterTimer({})).toBe(77.5e9)
    expect(afterTimer({ clampTgtRateAfterTimeInc: false })).toBe(80e9)
    // Two cuts without an increase between them: only the first option acts.
    const afterCut = (options: Partial<DcqcnVendorOptions>): number | undefined => {
      const clock = twice(options).runTo(4 * US)
      clock.cnp(5 * US)
      return clock.runTo(8 * US).controller.metrics().targetRateBps
    }
    expect(afterCut({})).toBe(80e9)
    expect(afterCut({ clampTgtRate: true })).toBe(75e9)
    // After an increase by the byte counter it always comes down.
    const clock = twice({ clampTgtRateAfterTimeInc: false }).runTo(4 * US)
    clock.controller.onSent(4 * US, 2_097_088)
    expect(gbps(clock.controller)).toBe(77.5)
    clock.cnp(5 * US)
    expect(clock.runTo(8 * US).controller.metrics().targetRateBps).toBe(77.5e9)
  })

  it("rpg_threshold: one increase of fast recovery, then rpg_ai_rate, and rpg_hai_rate once both have counted more", () => {
    const clock = twice().runTo(4 * US)
    const { controller } = clock
    const steps: Array<readonly [number, number | undefined]> = []
    const note = (): void => void steps.push([gbps(controller), controller.metrics().targetRateBps])
    for (const us of [304, 604, 904]) {
      clock.runTo(us * US)
      note()
      controller.onSent(us * US, 2_097_088)
      note()
    }
    expect(steps).toEqual([
      // (timer, bytes) before it: (0, 0) recovers; (1, 0), (1, 1) and (2, 1) add 5 M.
      [77.5, 80e9],
      [78.7525, 80.005e9],
      [79.38125, 80.01e9],
      [79.698125, 80.015e9],
      // (2, 2) and (3, 2), both above 1: 50 M.
      [79.8815625, 80.065e9],
      [79.99828125, 80.115e9],
    ])
  })

  it("rpg_byte_reset: 32,767 units of 64 bytes; 0 switches it off", () => {
    const clock = twice().runTo(4 * US)
    clock.controller.onSent(5 * US, 2_097_087)
    expect(clock.controller.metrics().byteCount).toBe(0)
    clock.controller.onSent(5 * US, 1)
    expect(clock.controller.metrics().byteCount).toBe(1)
    const off = twice({ rpgByteResetBytes: 0 }).runTo(4 * US)
    off.controller.onSent(5 * US, 1e9)
    expect(off.controller.metrics().byteCount).toBe(0)
  })

  it("a cut and an increase due at one moment: the cut, whichever timer is looked at first", () => {
    const make = (): Clockwork => {
      const clock = start({ rateToSetOnFirstCnpBps: 80e9 })
      clock.cnp(0)
      clock.cnp(298 * US)
      return clock
    }
    const { controller } = make().runTo(300 * US)
    expect(controller.metrics()).toMatchObject({ cuts: 2, increases: 0 })
    expect([...controller.timers!.due]).toEqual([Infinity, 600 * US])
    const byNumber = make().controller
    expect(byNumber.timers!.take(300 * US)).toBe(CUT)
    byNumber.onTimer(300 * US, CUT)
    expect([byNumber.rate, byNumber.nextTimer]).toEqual([controller.rate, 600 * US])
  })

  it("back at line rate the increases stop, until the next cut", () => {
    const clock = start({ rpgAiRateBps: 10e9, rpgHaiRateBps: 10e9 })
    clock.cnp(0)
    clock.runTo(50 * 300 * US)
    expect(clock.controller.rate).toBe(100e9)
    expect(clock.controller.nextTimer).toBe(Infinity)
    clock.cnp(50 * 300 * US + 1)
    expect(clock.controller.timers!.due[CUT]).toBe((50 * 300 + 4) * US)
    clock.runTo((50 * 300 + 4) * US)
    expect(clock.controller.timers!.due[INCREASE]).toBe((51 * 300 + 4) * US)
    // α has decayed to next to nothing, but for the one notification: 1/2, 1/4, 1/8, 1/16.
    expect(gbps(clock.controller)).toBe(96.875)
  })

  it("takes a marked acknowledgement once in min_time_between_cnps", () => {
    const { controller } = start()
    const before = [0, 3.999999, 4, 7, 8].map((us) => {
      controller.onAck(us * US, ack(true))
      return controller.metrics().notifications
    })
    expect(before).toEqual([1, 1, 2, 2, 3])
  })

  it("the adapters' defaults", () => {
    const byPreset = new Clockwork(dcqcn(dcqcnPresets.vendor).make(0, path))
    const byDefault = new Clockwork(dcqcn({ variant: "vendor" }).make(0, path))
    for (const clock of [byPreset, byDefault]) {
      clock.cnp(0)
      clock.cnp(5 * US)
      clock.runTo(8 * US)
      // α = 1023/1024 · w^5, w = 1019/1024; w·α + 1 − w; · w².
      const w = 1019 / 1024
      const alpha = (w * (1023 / 1024) * w ** 5 + 1 - w) * w ** 2
      expect(clock.controller.metrics().alpha).toBeCloseTo(alpha, 14)
      expect(clock.controller.rate / 1e9).toBeCloseTo(85 * (1 - alpha / 2), 8)
    }
  })

  it("window: fixed, or in step with the rate", () => {
    const windows = (["none", "fixed", "variable"] as const).map(
      (window) => twice({ window }).runTo(4 * US).controller.window,
    )
    expect(windows).toEqual([Infinity, 100_000, 75_000])
  })
})

describe("dcqcn/vendor, options", () => {
  it("rate_reduce_monitor_period and rpg_time_reset: when the rate is cut, and when it rises", () => {
    const clock = twice({ rateReduceMonitorPeriodPs: 10 * US, rpgTimeResetPs: 50 * US })
    expect([clock.controller.timers!.due[CUT], clock.controller.timers!.due[INCREASE]]).toEqual([10 * US, 50 * US])
  })

  it("rpg_threshold: increases of fast recovery before rpg_ai_rate", () => {
    const rates = [0, 1].map((rpgThreshold) => {
      const clock = start({ rateToSetOnFirstCnpBps: 80e9, rpgThreshold, rpgAiRateBps: 1e9 })
      clock.cnp(0)
      clock.runTo(300 * US)
      return gbps(clock.controller)
    })
    expect(rates).toEqual([80.5, 80])
  })
})
