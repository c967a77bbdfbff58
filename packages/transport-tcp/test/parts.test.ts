import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Intervals } from "../src/Intervals.ts"
import { TcpTransportError, type TcpTransportOptions, tcpConfig } from "../src/index.ts"
import { RttEstimator } from "../src/RttEstimator.ts"
import { Scoreboard } from "../src/Scoreboard.ts"
import { fixedWindow } from "./connection.ts"

describe("RttEstimator (RFC 6298 §2)", () => {
  it("the first sample: SRTT = R, RTTVAR = R / 2, RTO = 3 R", () => {
    const rtt = new RttEstimator(1e12, 1, 60e12)
    expect(rtt.timeoutPs).toBe(1e12)
    rtt.sample(100)
    expect([rtt.smoothedPs, rtt.timeoutPs]).toEqual([100, 300])
    // RTTVAR = ¾ · 50 + ¼ · |100 − 180| = 57.5; SRTT = ⅞ · 100 + ⅛ · 180 = 110; RTO = 110 + 230.
    rtt.sample(180)
    expect([rtt.smoothedPs, rtt.timeoutPs, rtt.leastPs]).toEqual([110, 340, 100])
  })

  it("keeps within its limits, and backs off by doubling", () => {
    const rtt = new RttEstimator(1e12, 1000, 5000)
    rtt.sample(100)
    expect([rtt.timeoutPs, rtt.backedOff(1), rtt.backedOff(2), rtt.backedOff(9)]).toEqual([1000, 2000, 4000, 5000])
  })
})

describe("RttEstimator, with a clock granularity G (RFC 6298 §2.2)", () => {
  it("the timeout is SRTT + max(G, 4 RTTVAR)", () => {
    const rtt = new RttEstimator(1e12, 1, 60e12, 150)
    rtt.sample(100)
    expect(rtt.timeoutPs).toBe(300)
    // RTTVAR 37.5: four of it are no more than G.
    rtt.sample(100)
    expect(rtt.timeoutPs).toBe(250)
    rtt.sample(100)
    expect(rtt.timeoutPs).toBe(250)
  })
})

describe("Intervals", () => {
  it("hold what was put in, as a set would", () => {
    const range = fc.record({ start: fc.nat(200), length: fc.integer({ min: 1, max: 20 }) })
    fc.assert(
      fc.property(fc.array(range, { maxLength: 40 }), fc.nat(200), (ranges, trim) => {
        const intervals = new Intervals()
        const set = new Set<number>()
        for (const { start, length } of ranges) {
          intervals.add(start, start + length)
          for (let number = start; number < start + length; number++) set.add(number)
          expect(intervals.start).toBeLessThanOrEqual(start)
          expect(intervals.end).toBeGreaterThanOrEqual(start + length)
        }
        intervals.trim(trim)
        for (const number of [...set]) if (number < trim) set.delete(number)
        for (let number = 0; number < 222; number++) expect(intervals.has(number)).toBe(set.has(number))
        for (let index = 1; index < intervals.count; index++)
          expect(intervals.startOf(index)).toBeGreaterThan(intervals.endOf(index - 1))
      }),
    )
  })
})

describe("Scoreboard", () => {
  it("reckons what is in the network, whatever happens to it", () => {
    // 0: send a new one, 1: send a lost one again, 2: acknowledge, 3: a block out of order, 4: a timeout.
    const step = fc.record({ kind: fc.nat(4), a: fc.nat(30), b: fc.nat(30) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const board = new Scoreboard(0)
        let now = 0
        for (const { kind, a, b } of steps) {
          now++
          const out = board.highest - board.una
          if (kind === 0) board.sent(board.highest, 1 + a, now)
          else if (kind === 1 && board.lostCount > 0) {
            const number = board.nextLost()
            board.sent(number, board.sizeOf(number), now)
          } else if (kind === 2) board.acknowledge(now, board.una + Math.min(out, a))
          else if (kind === 3) board.sack(now, board.una + 1 + a, board.una + 2 + a + b)
          else if (kind === 4) {
            board.markAllLost()
            expect(board.pipeBytes).toBe(0)
          }
          board.detectLosses(now, 3)
          expect(board.lostCount + board.sackedCount).toBeLessThanOrEqual(board.highest - board.una)
          expect(board.pipeBytes).toBeGreaterThanOrEqual(0)
          const all = board.lostCount + board.sackedCount === board.highest - board.una
          expect(board.pipeBytes === 0).toBe(all)
        }
        board.acknowledge(now, board.highest)
        expect([board.pipeBytes, board.lostCount, board.sackedCount]).toEqual([0, 0, 0])
      }),
    )
  })

  it("three beyond make one lost (RFC 6675), two do not", () => {
    const board = new Scoreboard(0)
    for (let number = 0; number < 10; number++) board.sent(number, 100, number)
    board.sack(20, 4, 5)
    board.sack(20, 6, 7)
    board.detectByCount(3)
    expect(board.lostCount).toBe(0)
    board.sack(20, 8, 9)
    board.detectByCount(3)
    // 4, 6 and 8 are there: 0 to 3 have three beyond them, 5 has two.
    expect([board.lostCount, board.nextLost()]).toEqual([4, 0])
  })
})

describe("options", () => {
  it.each<readonly [string, Partial<TcpTransportOptions>]>([
    ["mtuBytes", { mtuBytes: 0 }],
    ["mtuBytes", { mtuBytes: 2 ** 31 }],
    ["ackEvery", { ackEvery: 0.5 }],
    ["quickAcks", { quickAcks: -1 }],
    ["rateReduction", { rateReduction: 1 as unknown as boolean }],
    ["offloadSegments", { offloadSegments: 0 }],
    ["reorderSegments", { reorderSegments: 2 ** 23 }],
    ["retryCount", { retryCount: 2 ** 16 }],
    ["retryCount", { retryCount: -1 }],
    ["leastTimeoutPs", { leastTimeoutPs: 0 }],
    ["mostTimeoutPs", { mostTimeoutPs: 1 }],
    ["delayedAckPs", { delayedAckPs: -1 }],
    ["processingPs", { processingPs: Number.NaN }],
    ["granularityPs", { granularityPs: Number.POSITIVE_INFINITY }],
    ["leastTimeoutPs", { leastTimeoutPs: "5" as unknown as number }],
    ["lossDetection", { lossDetection: "dupack" as "sack" }],
    ["ecn", { ecn: 4 }],
  ])("a wrong %s is refused", (option, options) => {
    const make = () => tcpConfig({ controller: fixedWindow(1), ...options })
    expect(make).toThrow(TcpTransportError)
    expect(make).toThrow(new RegExp(`^tcp: ${option} is`))
  })
})
