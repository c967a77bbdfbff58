import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TcpOptions, tcp } from "../src/index.ts"
import { ack, MARK, path } from "./feedback.ts"

/** A segment is 1,000 bytes. */
const make = (variant: TcpOptions["variant"], segments: number): Controller =>
  tcp({ variant, hyStart: false, initialWindowBytes: segments * 1000 }).make(0, path)

const SECOND = 1e12

describe.each(["newreno", "cubic"] as const)("%s, marks and losses (RFC 3168 §6.1.2)", (variant) => {
  const left = variant === "cubic" ? 70_000 : 50_000

  it("a loss in a window of data that a mark has cut cuts it no more", () => {
    const controller = make(variant, 100)
    controller.onAck(0, ack(1000, 100_000, MARK))
    expect(controller.window).toBe(left)
    expect(controller.onLoss(0, false)).toBe(false)
    expect(controller.metrics()).toMatchObject({ losses: 1, thresholdSegments: left / 1000 })
    expect(controller.window).toBe(left)
    // Of the next window of data it does.
    controller.onAck(0, ack(100_000, 100_000 + left))
    expect(controller.onLoss(0, false)).toBe(true)
    expect(controller.window).toBeLessThan(left)
  })

  it("a timeout in such a window leaves the threshold", () => {
    const controller = make(variant, 100)
    controller.onAck(0, ack(1000, 100_000, MARK))
    expect(controller.onLoss(0, true)).toBe(true)
    expect(controller.metrics()).toMatchObject({ windowSegments: 1, thresholdSegments: left / 1000, timeouts: 1 })
  })

  it("a mark leaves one segment at least, a loss two (RFC 9438 §4.6, figure 5)", () => {
    const two = make(variant, 2)
    expect(two.onAck(0, ack(1000, 3000, MARK))).toBe(true)
    expect(two.metrics().windowSegments).toBeCloseTo(variant === "cubic" ? 1.4 : 1, 12)
    expect(two.metrics().thresholdSegments).toBe(2)
    const one = make(variant, 1)
    one.onAck(0, ack(1000, 2000, MARK))
    expect(one.window).toBe(1000)
    const lost = make(variant, 2)
    lost.onLoss(0, false)
    expect(lost.window).toBe(2000)
  })

  it("an acknowledgement with a mark never lets the window grow", () => {
    const controller = make(variant, 100)
    controller.onAck(0, ack(1000, 101_000))
    controller.onLoss(0, true)
    expect(controller.onAck(0, ack(2000, 101_000, MARK))).toBe(false)
    expect(controller.window).toBe(1000)
    expect(controller.onAck(0, ack(3000, 101_000))).toBe(true)
    expect(controller.window).toBe(2000)
  })
})

describe("cubic, flows that something else limits (RFC 9438 §5.8)", () => {
  /** 1,000 segments cut to 700, with acknowledgements 11.4 ns apart: a round trip of 8 µs. */
  const afterLoss = () => {
    const controller = make("cubic", 1000)
    controller.onLoss(0, false)
    let sequence = 0
    let now = 0
    const acks = (count: number): void => {
      for (let index = 0; index < count; index++) {
        now += 11_400
        sequence += 1000
        controller.onAck(now, ack(sequence, sequence - 1000 + controller.window))
      }
    }
    /** All that is out is acknowledged at once, and for a while nothing is sent. */
    const idle = (timePs: number): void => {
      now += 8e6
      const out = controller.window
      sequence += out
      controller.onAck(now, ack(sequence, sequence, false, out))
      now += timePs
    }
    return { controller, acks, idle, segments: () => controller.metrics().windowSegments! }
  }

  it("t leaves out idle time", () => {
    const steady = afterLoss()
    steady.acks(700)
    steady.idle(0)
    steady.acks(700)
    const idle = afterLoss()
    idle.acks(700)
    // Three times K = 9.1 s: the cube would be at 3,400 segments.
    idle.idle(27 * SECOND)
    idle.acks(700)
    expect(idle.segments()).toBeCloseTo(steady.segments(), 2)
    expect(idle.segments()).toBeLessThan(705)
  })

  it("t leaves out time in which the window was not filled", () => {
    const { controller, acks, segments } = afterLoss()
    acks(700)
    let sequence = 700_000
    for (let second = 1; second <= 27; second++) {
      sequence += 1000
      expect(controller.onAck(second * SECOND, ack(sequence, sequence + 1000))).toBe(false)
    }
    const before = segments()
    const round = Math.floor(before)
    for (let index = 0; index < round; index++) {
      sequence += 1000
      controller.onAck(27 * SECOND + 8e6 + index * 11_400, ack(sequence, sequence - 1000 + controller.window))
    }
    expect(segments() - before).toBeLessThan(1)
  })
})
