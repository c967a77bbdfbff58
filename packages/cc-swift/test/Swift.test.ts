import type { Ack, Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type SwiftOptions, swift } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/**
 * A base target of 40 µs and no scaling; β 0.8, max_mdf 0.5, ai 1. The first window is 100 packets.
 */
const make = (options: Partial<SwiftOptions> = {}, over: Partial<typeof path> = {}): Controller =>
  swift({
    variant: "paper",
    baseTargetPs: 40e6,
    flowScalingRangePs: 0,
    additiveIncreasePackets: 1,
    beta: 0.8,
    maxMdf: 0.5,
    maxWindowPackets: 1000,
    ...options,
  }).make(0, { ...path, ...over })

const at = (us: number): number => us * 1e6
const packets = (controller: Controller): number => controller.metrics().fabricWindowPackets ?? Number.NaN

describe("swift, Algorithm 1", () => {
  it("starts with the bandwidth-delay product at line rate", () => {
    const controller = make()
    expect([controller.window, controller.rate, controller.nextTimer]).toEqual([100_000, 100e9, Infinity])
    expect(make({ initialWindowPackets: 12 }).window).toBe(12_000)
    expect(make({}, { windowBytes: 0 }).window).toBe(100_000)
  })

  it("below the target: cwnd + ai / cwnd · num_acked", () => {
    const controller = make({ initialWindowPackets: 10 })
    expect(controller.onAck(at(10), ack(39.9))).toBe(true)
    expect(packets(controller)).toBe(10.1)
    controller.onAck(at(11), ack(20, 4))
    expect(packets(controller)).toBeCloseTo(10.1 + 4 / 10.1, 12)
    const faster = make({ initialWindowPackets: 10, additiveIncreasePackets: 5 })
    faster.onAck(at(10), ack(20))
    expect(packets(faster)).toBe(10.5)
    // Half a packet is half a packet; nothing acknowledged is nothing.
    controller.onAck(at(12), ack(20, 0))
    expect(packets(controller)).toBeCloseTo(10.1 + 4 / 10.1, 12)
  })

  it("below a packet: cwnd + ai · num_acked", () => {
    const controller = make({ initialWindowPackets: 0.25, additiveIncreasePackets: 0.5 })
    controller.onAck(at(10), ack(20))
    expect(packets(controller)).toBe(0.75)
  })

  it("from the target on: cwnd · (1 − β · (delay − target) / delay)", () => {
    const controller = make()
    // 50 µs: 1 − 0.8 · 10 / 50 = 0.84.
    controller.onAck(at(100), ack(50))
    expect(packets(controller)).toBeCloseTo(84, 12)
    expect(controller.window).toBe(84_000)
    // At the target itself nothing changes.
    controller.onAck(at(1000), ack(40))
    expect(packets(controller)).toBeCloseTo(84, 12)
  })

  it("no decrease takes more than max_mdf", () => {
    const controller = make()
    // 400 µs: 1 − 0.8 · 360 / 400 = 0.28, but 0.5 is the least.
    controller.onAck(at(1000), ack(400))
    expect(packets(controller)).toBe(50)
    const bolder = make({ maxMdf: 0.7 })
    bolder.onAck(at(1000), ack(400))
    expect(packets(bolder)).toBeCloseTo(30, 12)
  })

  it("decreases at most once in an RTT, and increases whenever", () => {
    const controller = make()
    controller.onAck(at(100), ack(50))
    // 49 µs later, of an RTT of 50: not yet. The window is not touched, nor is the time of the last decrease.
    controller.onAck(at(149), ack(50))
    expect(packets(controller)).toBeCloseTo(84, 12)
    controller.onAck(at(150), ack(50))
    expect(packets(controller)).toBeCloseTo(84 * 0.84, 12)
    controller.onAck(at(151), ack(20))
    expect(packets(controller)).toBeCloseTo(84 * 0.84 + 1 / (84 * 0.84), 12)
    expect(controller.metrics()).toMatchObject({ decreases: 2, increases: 1 })
  })

  it("stays within [min_cwnd, max_cwnd]", () => {
    const controller = make({ minWindowPackets: 60, maxWindowPackets: 100.005 })
    controller.onAck(at(100), ack(20))
    expect(packets(controller)).toBe(100.005)
    controller.onAck(at(200), ack(400))
    expect(packets(controller)).toBe(60)
  })

  it("a window in whole packets, and at line rate", () => {
    const controller = make({ initialWindowPackets: 3.9 })
    expect([controller.window, controller.rate]).toEqual([3000, 100e9])
    expect(make({ initialWindowPackets: 1 }).window).toBe(1000)
  })

  it("below a packet: one at a time, RTT / cwnd apart", () => {
    const controller = make({ initialWindowPackets: 1 })
    // 80 µs: 1 − 0.8 · 40 / 80 = 0.6; a packet in 80 / 0.6 = 133.3 µs: 60 Mb/s.
    controller.onAck(at(1000), ack(80))
    expect(controller.window).toBe(600)
    expect(controller.rate).toBeCloseTo(60e6, 3)
    expect((1000 * 8e12) / controller.rate).toBeCloseTo(at(80) / 0.6, 3)
    // The gap follows the RTT, the window the law: 0.6 · 0.6, in 80 µs.
    controller.onAck(at(2000), ack(80))
    expect(controller.rate).toBeCloseTo(36e6, 3)
    // Never above the line: 1000 bytes and 0.36 + ai in no time.
    controller.onAck(at(3000), ack(0))
    expect(controller.rate).toBe(100e9)
  })
})

describe("swift, target delay (§3.5)", () => {
  /** 1/√0.25 = 2 and 1/√4 = ½: α = 30 / 1.5 = 20 µs, β = −10 µs. */
  const scaled = { flowScalingRangePs: 30e6, flowScalingMinPackets: 0.25, flowScalingMaxPackets: 4 }
  const target = (options: Partial<SwiftOptions>, acknowledgement: Ack = ack(1)): number => {
    const controller = make(options)
    controller.onAck(at(1), acknowledgement)
    return (controller.metrics().targetPs ?? Number.NaN) / 1e6
  }

  it.each([
    // α / √cwnd + β: 20 / 1 − 10; 20 · 2 − 10; 20 / 2 − 10; 20 / √2 − 10.
    [1, 50],
    [0.25, 70],
    [4, 40],
    [2, 40 + 20 / Math.SQRT2 - 10],
    // Beyond fs_max_cwnd nothing, below fs_min_cwnd the range.
    [16, 40],
    [0.04, 70],
  ])("flow-based scaling: a window of %d packets", (initialWindowPackets, expected) => {
    expect(target({ ...scaled, initialWindowPackets })).toBeCloseTo(expected, 10)
  })

  it("topology-based scaling: ħ for each hop, from the acknowledgement where it tells", () => {
    expect(target({ hopScalePs: 2e6, hops: 5 })).toBe(50)
    expect(target({ hopScalePs: 2e6, hops: 5 }, ack(1, 1, 3))).toBe(46)
    expect(target({ hopScalePs: 2e6 }, ack(1, 1, 3))).toBe(46)
    expect(target({ hopScalePs: 2e6 })).toBe(40)
    // htsim's ħ: 40 µs / 6.55.
    expect(target({ hops: 1 })).toBeCloseTo(40 + 40 / 6.55, 10)
  })

  it("follows the window as it moves", () => {
    const controller = make({ ...scaled, initialWindowPackets: 4 })
    controller.onAck(at(100), ack(80))
    // 1 − 0.8 · 40 / 80 = 0.6: 2.4 packets; the next target is 40 + 20 / √2.4 − 10.
    controller.onAck(at(101), ack(1))
    expect(controller.metrics().targetPs).toBeCloseTo(at(30 + 20 / Math.sqrt(2.4)), 2)
  })

  it("25 µs where none is given, or twice the base RTT", () => {
    const targetOf = (baseRttPs: number): number | undefined => {
      const controller = swift({ variant: "paper", flowScalingRangePs: 0 }).make(0, { ...path, baseRttPs })
      controller.onAck(0, ack(1))
      return controller.metrics().targetPs
    }
    expect([targetOf(8e6), targetOf(20e6)]).toEqual([25e6, 40e6])
  })

  it("the largest window is what the line carries in the largest target, when none is given", () => {
    // 25 + 125 µs at 100 Gb/s: 1,875,000 bytes.
    const controller = swift({ variant: "paper", initialWindowPackets: 5000 }).make(0, path)
    expect(controller.window).toBe(1_875_000)
  })
})

describe("swift, losses", () => {
  it("a NAK takes max_mdf, at most once in an RTT", () => {
    const controller = make()
    controller.onAck(at(100), ack(20, 0))
    expect(controller.onLoss(at(200), false)).toBe(true)
    expect(packets(controller)).toBe(50)
    controller.onLoss(at(219), false)
    expect(packets(controller)).toBe(50)
    controller.onLoss(at(220), false)
    expect(packets(controller)).toBe(25)
  })

  it("so does a timeout, and RETX_RESET_THRESHOLD of them in a row leave min_cwnd", () => {
    const controller = make({ resetAfter: 3, minWindowPackets: 0.5 })
    for (const us of [1000, 2000]) controller.onLoss(at(us), true)
    expect([packets(controller), controller.metrics().retransmits]).toEqual([25, 2])
    controller.onLoss(at(2001), true)
    expect(packets(controller)).toBe(0.5)
    expect(controller.metrics()).toMatchObject({ timeouts: 3, resets: 1 })
  })

  it("an acknowledgement, or a NAK, starts the count over", () => {
    const controller = make({ resetAfter: 2 })
    controller.onLoss(at(1000), true)
    controller.onAck(at(1500), ack(20, 0))
    controller.onLoss(at(2000), true)
    controller.onLoss(at(3000), false)
    controller.onLoss(at(4000), true)
    expect(controller.metrics()).toMatchObject({ resets: 0, retransmits: 1 })
    expect(packets(controller)).toBeCloseTo(100 / 16, 12)
  })

  it("ignores congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onTimer(0, 0)]).toEqual([false, false])
  })
})

describe("swift, fabric and endpoint", () => {
  /** The endpoints' share is what the test says. */
  const split = (shares: Array<number>, options: Partial<SwiftOptions> = {}): Controller =>
    make({ endpointTargetPs: 60e6, endpointDelayPs: () => (shares.shift() ?? Number.NaN) * 1e6, ...options })

  it("each delay has its window, and the smaller counts", () => {
    const controller = split([100])
    // 130 µs, 100 of them at the ends: 1 − 0.8 · 40 / 100 = 0.68. The fabric's 30 are below its target of 40.
    controller.onAck(at(1000), ack(130))
    expect(controller.metrics()).toMatchObject({ fabricWindowPackets: 100.01, delayPs: 30e6 })
    expect(controller.metrics().endpointWindowPackets).toBeCloseTo(68, 12)
    expect(controller.window).toBe(68_000)
  })

  it("and the other way round", () => {
    const controller = split([50])
    // 100 µs, 50 at the ends, below 60; the fabric's 50 above 40: 0.84.
    controller.onAck(at(1000), ack(100))
    expect(controller.metrics()).toMatchObject({ endpointWindowPackets: 100.01 })
    expect(controller.window).toBe(84_000)
  })

  it("where an acknowledgement cannot tell, all delay is the fabric's, and it is counted", () => {
    const controller = split([Number.NaN, 200])
    controller.onAck(at(1000), ack(50))
    controller.onAck(at(2000), ack(50))
    expect(controller.metrics()).toMatchObject({ untold: 2, endpointWindowPackets: 100 })
    expect(packets(controller)).toBeCloseTo(84 * 0.84, 12)
  })

  it("a loss is the fabric's", () => {
    const controller = split([])
    controller.onLoss(at(1000), false)
    expect(controller.metrics()).toMatchObject({ fabricWindowPackets: 50, endpointWindowPackets: 100 })
  })
})

it("an unset stamp: the law does not run, and it is counted", () => {
  const controller = make()
  expect(controller.onAck(at(10), ack(Number.NaN))).toBe(false)
  expect(controller.metrics()).toMatchObject({ unstamped: 1, increases: 0, decreases: 0 })
})
