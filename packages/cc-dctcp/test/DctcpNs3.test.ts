import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type DctcpNs3Options, dctcp } from "../src/index.ts"
import { ack, MARK, path } from "./feedback.ts"

/** g 0.5 keeps the arithmetic exact. A packet is 1,000 bytes. */
const make = (options: Partial<DctcpNs3Options> = {}, over: Partial<typeof path> = {}): Controller =>
  dctcp({ variant: "ns3", g: 0.5, additiveIncreaseBps: 615e6, ...options }).make(0, { ...path, ...over })

describe("dctcp/ns3", () => {
  it("starts at line rate, without a window, and α at 1", () => {
    const controller = make()
    expect([controller.rate, controller.window, controller.nextTimer]).toEqual([100e9, Infinity, Infinity])
    expect(controller.metrics().alpha).toBe(1)
  })

  it("the first acknowledgement opens a round trip of as many packets as were sent, and one", () => {
    const controller = make()
    // No estimate, but a batch: the rate is raised, and is the line's already.
    expect(controller.onAck(0, ack(1000, 52_500))).toBe(true)
    expect(controller.metrics()).toMatchObject({ batchPackets: 53, lastUpdateSequence: 52_500, estimates: 0, alpha: 1 })
    expect(controller.rate).toBe(100e9)
  })

  it("a mark cuts the rate by α/2, once until all that was out is acknowledged", () => {
    const controller = make()
    expect(controller.onAck(0, ack(1000, 100_000, MARK))).toBe(true)
    // α = 1: 100 G · ½; no increase in a batch whose first acknowledgement cut.
    expect(controller.rate).toBe(50e9)
    expect(controller.onAck(0, ack(2000, 100_000, MARK))).toBe(false)
    // 100,000 is not above what was out: still no second cut, no new batch either.
    expect(controller.onAck(0, ack(100_000, 150_000, MARK))).toBe(false)
    expect(controller.rate).toBe(50e9)
    expect(controller.metrics()).toMatchObject({ reduced: 1, reducedUntil: 100_000, marked: 3 })
  })

  it("α takes the share of marked packets, the first round trip's with the second's", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000, MARK))
    controller.onAck(0, ack(2000, 100_000, MARK))
    // 2 of 101: α = ½·1 + ½·2/101; the next batch has (150,000 − 101,000) / 1000 + 1 packets.
    controller.onAck(0, ack(101_000, 150_000))
    expect(controller.metrics()).toMatchObject({ alpha: 0.5 + 1 / 101, batchPackets: 50, marked: 0, estimates: 1 })
    // The cut is over, and a batch begins: 50 G + 615 M.
    expect(controller.rate).toBe(50.615e9)
  })

  it("g 0 keeps α at 1: the rate halves", () => {
    const controller = make({ g: 0 })
    for (let i = 1; i <= 3; i++) controller.onAck(0, ack(100_000 * i, 100_000 * (i + 1) - 1, MARK))
    expect([controller.rate, controller.metrics().alpha]).toEqual([12.5e9, 1])
  })

  it("a batch of less than nothing is what the unsigned difference gives (rdma-hw.cc, HandleAckDctcp)", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 2000))
    controller.onAck(0, ack(5000, 3000))
    // (2^64 − 2,000) / 1,000 + 1, of which 32 bits are kept.
    const batch = Number(((2n ** 64n - 2000n) / 1000n + 1n) % 2n ** 32n)
    expect(controller.metrics()).toMatchObject({ batchPackets: batch, lastUpdateSequence: 3000 })
  })

  it("a share is at most 1", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 2000, MARK))
    for (let i = 0; i < 9; i++) controller.onAck(0, ack(2000, 2000, MARK))
    // 10 of 3.
    controller.onAck(0, ack(3000, 4000))
    expect(controller.metrics().alpha).toBe(1)
  })

  it("an acknowledgement may end the cut and cut again, with the new α", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000, MARK))
    // 2 marks of 101: α = ½ + 1/101; 50 G · (1 − α/2), truncated.
    controller.onAck(0, ack(101_000, 150_000, MARK))
    expect(controller.rate).toBe(Math.trunc(50e9 * (1 - (0.5 + 1 / 101) / 2)))
    expect(controller.rate).toBe(37_252_475_247)
    expect(controller.metrics()).toMatchObject({ decreases: 2, reducedUntil: 150_000 })
  })

  it("go-back-N: the round trip ends where sending is now, be it lower", () => {
    const controller = make()
    controller.onAck(0, ack(1000, 100_000))
    controller.onAck(0, ack(101_000, 101_000))
    expect(controller.metrics()).toMatchObject({ lastUpdateSequence: 101_000, batchPackets: 1 })
  })

  it("never leaves [MIN_RATE, line]", () => {
    const controller = make({ minRateBps: 80e9 })
    controller.onAck(0, ack(1000, 100_000, MARK))
    expect(controller.rate).toBe(80e9)
    const slow = make({ minRateBps: 80e9 }, { lineRateBps: 10e9 })
    slow.onAck(0, ack(1000, 100_000, MARK))
    expect(slow.rate).toBe(10e9)
  })

  it("raises the rate by one packet in a base RTT when no step is given: 615 Mb/s at 13 µs", () => {
    const controller = dctcp({ variant: "ns3" }).make(0, { ...path, baseRttPs: 13e6 })
    controller.onAck(0, ack(1000, 100_000, MARK))
    controller.onAck(0, ack(101_000, 150_000))
    // 1000 · 8 / 13 µs = 615,384,615.4.
    expect(controller.rate).toBe(50e9 + 615_384_615)
  })

  it("windows: the bandwidth-delay product, fixed or in step with the rate", () => {
    const fixed = make({ window: "fixed" })
    const variable = make({ window: "variable" })
    for (const controller of [fixed, variable]) controller.onAck(0, ack(1000, 100_000, MARK))
    expect([fixed.window, variable.window]).toEqual([100_000, 50_000])
  })

  it("ignores losses, congestion notifications and timers", () => {
    const controller = make()
    expect([controller.onCnp(0), controller.onLoss(0, true), controller.onTimer(0, 0)]).toEqual([false, false, false])
    expect(controller.rate).toBe(100e9)
  })
})
