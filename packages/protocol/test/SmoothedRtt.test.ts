import { expect, it } from "vitest"
import { SmoothedRtt } from "../src/index.ts"

const MS = 1e9

it("takes the first round trip, and half of it for its variation (RFC 6298 §2.2)", () => {
  const rtt = new SmoothedRtt(7 * MS)
  expect([rtt.smoothedPs, rtt.leastPs]).toEqual([7 * MS, Infinity])
  expect(rtt.retransmissionPs()).toBe(7 * MS)
  rtt.sample(100 * MS)
  expect([rtt.smoothedPs, rtt.variationPs, rtt.leastPs]).toEqual([100 * MS, 50 * MS, 100 * MS])
  expect(rtt.retransmissionPs()).toBe(300 * MS)
})

it("smooths all others: the variation first, by the round trip as it was (RFC 6298 §2.3)", () => {
  const rtt = new SmoothedRtt()
  rtt.sample(100 * MS)
  rtt.sample(180 * MS)
  expect([rtt.variationPs, rtt.smoothedPs, rtt.leastPs]).toEqual([57.5 * MS, 110 * MS, 100 * MS])
  rtt.sample(70 * MS)
  expect([rtt.variationPs, rtt.smoothedPs, rtt.leastPs]).toEqual([53.125 * MS, 105 * MS, 70 * MS])
})

it("has a timeout of at least a granularity above the smoothed round trip", () => {
  const rtt = new SmoothedRtt()
  for (let i = 0; i < 1000; i++) rtt.sample(10 * MS)
  expect(rtt.retransmissionPs()).toBeCloseTo(10 * MS, 0)
  expect(rtt.retransmissionPs(MS)).toBe(11 * MS)
})
