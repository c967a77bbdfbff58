import { Flag, Opcode } from "@rdmakit/packet"
import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { RateReduction } from "../src/RateReduction.ts"
import { connect, fixedWindow } from "./connection.ts"

const US = 1e6

/** Twenty segments, and ten after a loss: the window of RFC 9937's examples. */
const halving: ControllerFactory = {
  ...fixedWindow(20_000),
  make: (now, path) => {
    const controller = { ...fixedWindow(20_000).make(now, path), window: 20_000 }
    controller.onLoss = () => {
      controller.window = 10_000
      return true
    }
    return controller
  },
}

/** A flow that loses some of its first twenty segments: what leaves, and after how many acknowledgements that are in. */
const sentAfterAcks = (lost: ReadonlyArray<number>, rateReduction: boolean) => {
  const { ends, pair } = connect({
    options: { controller: halving, rateReduction, ackEvery: 1 },
    path: ({ opcode, psn, meta }) =>
      opcode < Opcode.Acknowledge && lost.includes(psn) && (meta & Flag.Retransmission) === 0 ? [] : [10 * US],
  })
  pair.command(0, { message: 0, writeBytes: 60_000 })
  pair.run()
  expect([ends[0].timeouts, ends[1].bytesReceived]).toEqual([0, 60_000])
  const acks = pair.sent.filter(({ opcode }) => opcode === Opcode.Acknowledge).map(({ time }) => time + 10 * US)
  return pair.sent
    .filter(({ opcode }) => opcode < Opcode.Acknowledge)
    .map(({ psn, time }) => ({ psn, acks: acks.filter((each) => each <= time).length }))
}

describe("proportional rate reduction (RFC 9937)", () => {
  it("halves a flight of twenty by a segment for every two that arrive", () => {
    // Two of limited transmit, what was lost, then one at each second acknowledgement. RecoverFS is 20: of 22 two are there.
    // At the eighteenth the flight is at its target, ten (28 sent, 18 there), and waits for the next.
    const sent = sentAfterAcks([0], true).filter(({ acks }) => acks > 0 && acks < 20)
    expect(sent.map(({ psn }) => psn)).toEqual([20, 21, 0, 22, 23, 24, 25, 26, 27, 28])
    expect(sent.map(({ acks }) => acks)).toEqual([1, 2, 3, 6, 8, 10, 12, 14, 16, 19])
  })

  it("where without it the sender is silent until half of them have arrived", () => {
    const sent = sentAfterAcks([0], false).filter(({ acks }) => acks > 3 && acks < 20)
    expect(sent[0]!.acks).toBe(12)
    expect(sent.every(({ acks }, index) => acks === 12 + index)).toBe(true)
  })

  it("sends after a loss of most of a flight no more than arrives and one, where without it goes a burst", () => {
    const most = (rateReduction: boolean): number => {
      const lost = Array.from({ length: 15 }, (_, index) => index)
      const counts = new Map<number, number>()
      for (const { acks, psn } of sentAfterAcks(lost, rateReduction))
        if (acks > 0 && psn < 15) counts.set(acks, (counts.get(acks) ?? 0) + 1)
      return Math.max(...counts.values())
    }
    expect(most(true)).toBe(2)
    expect(most(false)).toBeGreaterThanOrEqual(6)
  })
})

describe("RateReduction", () => {
  it("is no limit outside of recoveries", () => {
    const reduction = new RateReduction(1000)
    reduction.sent(5000)
    expect(reduction.roomBytes).toBe(Infinity)
    reduction.begin(20_000)
    reduction.end()
    expect(reduction.roomBytes).toBe(Infinity)
  })

  it("grows back by a segment more where the left edge moves and nothing more is lost", () => {
    const room = (safe: boolean): number => {
      const reduction = new RateReduction(1000)
      reduction.begin(20_000)
      reduction.sent(1000)
      reduction.acknowledged(1000, 3000, 10_000, safe)
      return reduction.roomBytes
    }
    expect([room(false), room(true)]).toEqual([1000, 2000])
  })

  it("never beyond the window that the recovery is to end with", () => {
    const reduction = new RateReduction(1000)
    reduction.begin(20_000)
    reduction.sent(1000)
    reduction.acknowledged(8000, 9500, 10_000, true)
    expect(reduction.roomBytes).toBe(500)
  })
})
