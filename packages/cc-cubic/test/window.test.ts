import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TcpOptions, tcp } from "../src/index.ts"
import { ack, MARK, path } from "./feedback.ts"

/** A segment is 1,000 bytes. */
const make = (options: TcpOptions): Controller => tcp({ hyStart: false, ...options }).make(0, path)

/** A sender that always fills its window. */
class Sender {
  readonly controller: Controller
  sequence = 0
  sent = 0
  now = 0

  constructor(controller: Controller) {
    this.controller = controller
  }

  fill(): void {
    const bytes = this.sequence + this.controller.window - this.sent
    if (bytes <= 0) return
    this.sent += bytes
    this.controller.onSent(this.now, bytes)
  }

  /** Acknowledges `count` segments, one by one. */
  acks(count: number, everyPs = 0): void {
    for (let index = 0; index < count; index++) {
      this.fill()
      this.now += everyPs
      this.sequence += 1000
      this.controller.onAck(this.now, ack(this.sequence, this.sent))
    }
    this.fill()
  }

  /** A loss, which a duplicate acknowledgement tells of: what is out is acknowledged, to the last segment but one. */
  lose(): void {
    const { sent } = this
    this.controller.onAck(this.now, ack(this.sequence, sent, false, 0))
    this.controller.onLoss(this.now, false)
    this.acks((sent - this.sequence) / 1000 - 1)
  }

  segments(): number {
    return this.controller.metrics().windowSegments!
  }
}

describe.each(["newreno", "cubic"] as const)("%s, what every TCP does", (variant) => {
  it("starts with ten segments, and a segment more for each that is acknowledged", () => {
    const sender = new Sender(make({ variant }))
    expect([sender.controller.window, sender.controller.rate]).toEqual([10_000, 100e9])
    sender.acks(10)
    expect(sender.controller.window).toBe(20_000)
    sender.acks(20)
    expect(sender.controller.window).toBe(40_000)
  })

  it("does not grow while it is not what limits the flow", () => {
    const controller = make({ variant })
    // One segment was out, of ten that might have been.
    controller.onAck(0, ack(1000, 1000))
    expect(controller.window).toBe(10_000)
  })

  it("begins again with one segment after a timeout, and doubles up to the threshold (RFC 5681 §3.1)", () => {
    const sender = new Sender(make({ variant }))
    sender.acks(90)
    const left = variant === "cubic" ? 70 : 50
    sender.controller.onLoss(sender.now, true)
    expect(sender.controller.metrics()).toMatchObject({ windowSegments: 1, thresholdSegments: left, timeouts: 1 })
    // What was out is sent again from its first segment on: 1, 2, 4, 8 and so on.
    const windows = [1, 2, 4, 8, 16].map((count) => {
      sender.acks(count)
      return sender.segments()
    })
    expect(windows).toEqual([2, 4, 8, 16, 32])
    sender.acks(left)
    expect(sender.segments()).toBeGreaterThanOrEqual(left)
    expect(sender.segments()).toBeLessThan(left + 2)
  })

  it("takes what a timeout sent in vain, acknowledged all at once, for one segment (RFC 3465 §2.3)", () => {
    const sender = new Sender(make({ variant }))
    sender.acks(90)
    sender.controller.onLoss(sender.now, true)
    // The first was lost, thirty behind it were there.
    sender.controller.onAck(sender.now, ack(sender.sequence + 31_000, sender.sent, false, 31_000))
    expect(sender.segments()).toBe(2)
  })

  it("grows no more in a recovery without a timeout (RFC 6582 §3.2)", () => {
    const sender = new Sender(make({ variant }))
    sender.acks(90)
    sender.lose()
    expect(sender.segments()).toBe(variant === "cubic" ? 70 : 50)
  })

  it("a second timeout of the same data leaves the threshold (RFC 5681 §3.1)", () => {
    const sender = new Sender(make({ variant }))
    sender.acks(90)
    sender.controller.onLoss(0, true)
    const { thresholdSegments } = sender.controller.metrics()
    sender.controller.onLoss(0, true)
    expect(sender.controller.metrics()).toMatchObject({ thresholdSegments, windowSegments: 1, timeouts: 2 })
  })

  it("is cut once for a window of data, by losses and by marks", () => {
    const sender = new Sender(make({ variant }))
    sender.acks(90)
    const { controller } = sender
    expect(controller.onAck(0, ack(91_000, 190_000, MARK))).toBe(true)
    const { window } = controller
    expect(window).toBe(variant === "cubic" ? 70_000 : 50_000)
    expect(controller.onAck(0, ack(92_000, 190_000, MARK))).toBe(false)
    expect(controller.window).toBe(window)
    expect(controller.onAck(0, ack(191_000, 240_000, MARK))).toBe(true)
    expect(controller.window).toBeLessThan(window)
  })

  it("is cut to the share that is asked for", () => {
    const sender = new Sender(make({ variant, beta: 0.8, initialWindowBytes: 100_000 }))
    sender.acks(1)
    sender.controller.onLoss(0, false)
    expect(sender.segments()).toBeCloseTo(0.8 * 101, 9)
  })

  it("stops at the ceiling, and at two segments of threshold", () => {
    const low = new Sender(make({ variant, maxWindowBytes: 15_500 }))
    low.acks(100)
    expect(low.controller.window).toBe(15_500)
    const small = make({ variant, initialWindowBytes: 1000 })
    small.onLoss(0, false)
    expect(small.metrics()).toMatchObject({ windowSegments: 2, thresholdSegments: 2 })
  })
})

describe("newreno, avoidance (RFC 5681 §3.1)", () => {
  it("a segment a round trip", () => {
    const sender = new Sender(make({ variant: "newreno" }))
    sender.acks(90)
    sender.lose()
    expect(sender.segments()).toBe(50)
    sender.acks(1)
    expect(sender.segments()).toBeCloseTo(50 + 1 / 50, 12)
    sender.acks(50)
    expect(sender.segments()).toBeCloseTo(51 + 1 / 50, 1)
  })
})

describe("cubic, avoidance (RFC 9438 §4)", () => {
  it("K is the cube root of what was lost over C, and the window is back at W_max then", () => {
    // 1,000 segments, cut to 700: K = ∛(300 / 0.4) = 9.0856 s.
    const sender = new Sender(make({ variant: "cubic", initialWindowBytes: 1_000_000 }))
    sender.controller.onLoss(0, false)
    expect(sender.controller.window).toBe(700_000)
    // A segment every 10 ms: Reno's growth is far behind the cube's.
    sender.acks(1, 1e10)
    expect(sender.controller.metrics().kSeconds).toBeCloseTo(9.0856, 4)
    expect(sender.controller.metrics().wMaxSegments).toBe(1000)
  })

  it("follows the cube: W(t) = C (t − K)³ + W_max", () => {
    const sender = new Sender(make({ variant: "cubic", initialWindowBytes: 1_000_000 }))
    sender.controller.onLoss(0, false)
    // Acknowledgements every 100 µs, 8 µs of round trip.
    const start = 1e8
    const at = (seconds: number): number => 0.4 * (seconds - 9.085603) ** 3 + 1000
    for (const seconds of [2, 5, 9, 12]) {
      while (sender.now < start + seconds * 1e12) sender.acks(1, 1e8)
      expect(sender.segments() / at(seconds)).toBeCloseTo(1, 1)
      expect(Math.abs(sender.segments() - at(seconds))).toBeLessThan(15)
    }
  })

  it("aims a smoothed round trip ahead, not the latest (§4.1.2, §4.2; RFC 6298 §2)", () => {
    const controller = make({ variant: "cubic", initialWindowBytes: 1_000_000 })
    controller.onLoss(0, false)
    const grownBy = (now: number, sequence: number, rttPs: number): number => {
      const before = controller.metrics().windowSegments!
      controller.onAck(now, { ...ack(sequence, sequence - 1000 + controller.window), rttPs })
      return controller.metrics().windowSegments! - before
    }
    // 1,000 segments, cut to 700: W(t) = 0.4 (t − 9.0856)³ + 1,000, from the first acknowledgement on.
    const target = (seconds: number): number => 0.4 * (seconds - Math.cbrt(300 / 0.4)) ** 3 + 1000
    grownBy(0, 1000, 1e11)
    // A round trip of a second, after one of 0.1 s, counts by an eighth: 0.1 + 0.9 / 8 s.
    const window = controller.metrics().windowSegments!
    expect(grownBy(1e12, 2000, 1e12)).toBeCloseTo((target(1 + 0.2125) - window) / window, 9)
    expect(controller.metrics().smoothedRttPs).toBeCloseTo(0.2125e12, -3)
  })

  it("is no slower than NewReno in short round trips (§4.3): α = 3 (1 − β) / (1 + β) segments each", () => {
    const sender = new Sender(make({ variant: "cubic" }))
    sender.acks(90)
    sender.lose()
    // 70 segments, within a nanosecond: the cube has not moved.
    sender.acks(70, 10)
    expect(sender.segments()).toBeCloseTo(70 + (3 * 0.3) / 1.7, 2)
  })

  it("K = ∛((W_max − cwnd) / C): half of it with eight times the C", () => {
    const k = (c: number): number => {
      const sender = new Sender(make({ variant: "cubic", c, initialWindowBytes: 100_000 }))
      sender.acks(1)
      sender.controller.onLoss(0, false)
      sender.acks(102)
      return sender.controller.metrics().kSeconds!
    }
    expect(k(0.4)).toBeGreaterThan(4)
    expect(k(0.4) / k(3.2)).toBeCloseTo(2, 6)
  })

  it("yields to others when it had not come back (§4.7)", () => {
    const wMax = (fastConvergence: boolean): number => {
      const sender = new Sender(make({ variant: "cubic", fastConvergence, initialWindowBytes: 100_000 }))
      sender.acks(1)
      sender.controller.onLoss(0, false)
      sender.acks(102)
      sender.controller.onLoss(0, false)
      return sender.controller.metrics().wMaxSegments!
    }
    // 101 cut to 70.7, a segment or so more, then again: W_max 1.7 / 2 of that, or all of it.
    expect(wMax(true) / wMax(false)).toBeCloseTo(0.85, 6)
    expect(wMax(false)).toBeGreaterThan(70)
  })
})

describe("HyStart++ (RFC 9406)", () => {
  /** Rounds of a sender whose round trips are as given, ps, ten acknowledgements each; the windows after each. */
  const windows = (rtts: ReadonlyArray<number>): ReadonlyArray<number> => {
    const controller = tcp({ variant: "newreno", hyStart: true }).make(0, path)
    let sequence = 0
    return rtts.map((rttPs) => {
      const count = Math.floor(controller.window / 1000)
      for (let index = 0; index < count; index++) {
        sequence += 1000
        controller.onAck(0, { ...ack(sequence, sequence - 1000 + controller.window), rttPs })
      }
      return controller.metrics().windowSegments!
    })
  }

  it("leaves a start alone whose round trips stay", () => {
    expect(windows([8e6, 8e6, 8e6])).toEqual([20, 40, 80])
  })

  it("slows to a quarter when they grow by an eighth, and ends after five rounds", () => {
    const [first, second, third, ...rest] = windows([8e6, 8e6, 9.1e6, 9.2e6, 9.3e6, 9.4e6, 9.5e6, 9.6e6, 9.7e6])
    expect([first, second]).toEqual([20, 40])
    // Nine acknowledgements, until eight are sampled, grow by a segment; the others by a quarter.
    expect(third).toBeGreaterThan(45)
    expect(third).toBeLessThan(60)
    const last = rest.slice(-2) as [number, number]
    expect(last[1] - last[0]).toBeLessThan(1.1)
  })

  it("goes on when the growth was spurious", () => {
    const [, , third, fourth] = windows([8e6, 8e6, 9.1e6, 8e6])
    expect(fourth! / third!).toBeGreaterThan(1.8)
  })

  it("is of the first slow start alone (RFC 9406 §4.3)", () => {
    const controller = tcp({ variant: "newreno", hyStart: true, initialWindowBytes: 100_000 }).make(0, path)
    controller.onSent(0, 100_000)
    controller.onLoss(0, true)
    // From one segment to the threshold of fifty, whatever the round trips do.
    let sequence = 0
    for (let round = 0; round < 5; round++) {
      const count = Math.floor(controller.window / 1000)
      for (let index = 0; index < count; index++) {
        sequence += 1000
        controller.onAck(0, { ...ack(sequence, sequence - 1000 + controller.window), rttPs: 8e6 * 2 ** round })
      }
    }
    expect(controller.metrics().windowSegments).toBe(32)
  })
})
