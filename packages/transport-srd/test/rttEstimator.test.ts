import { describe, expect, it } from "vitest"
import { srdConfig } from "../src/index.ts"
import { RttEstimator } from "../src/RttEstimator.ts"
import { fixedWindow } from "./connection.ts"

const US = 1e6

const estimator = (): RttEstimator => new RttEstimator(srdConfig({ controller: fixedWindow(20_000) }))

const fed = (...samplesUs: ReadonlyArray<number>): RttEstimator => {
  const rtt = estimator()
  for (const sample of samplesUs) rtt.sample(sample * US)
  return rtt
}

describe("round trips, worked by hand", () => {
  it("before any is known the timeout is 100 µs, doubled as often as asked, 4 ms at most", () => {
    expect([0, 1, 2, 5, 6].map((times) => estimator().timeoutPs(times) / US)).toEqual([100, 200, 400, 3200, 4000])
  })

  it("the first varies by an eighth: twice a round trip is the timeout, half of one the wait for late packets", () => {
    const rtt = fed(40)
    expect([rtt.smoothedPs / US, rtt.timeoutPs(0) / US, rtt.reorderWindowPs / US]).toEqual([40, 80, 20])
  })

  it("a longer one is felt at once: variation 5 + (32 - 5) / 4, smoothed 40 + 32 / 8", () => {
    const rtt = fed(40, 72)
    expect([rtt.smoothedPs / US, rtt.reorderWindowPs / US, rtt.timeoutPs(0) / US]).toEqual([44, 47, 44 + 47])
  })

  it("and remembered for a turn of the paths: one packet in 64 that is late is still waited for", () => {
    const rtt = fed(...Array.from({ length: 640 }, (_, i) => (i % 64 === 63 ? 60 : 40)))
    // Just before the next that is late.
    for (let i = 0; i < 63; i++) rtt.sample(40 * US)
    expect(rtt.reorderWindowPs / US).toBeGreaterThan(5)
    // In a network where none is, it is an eighth of a round trip.
    expect(fed(...Array.from({ length: 1000 }, () => 40)).reorderWindowPs / US).toBe(5)
  })

  it("the timeout is 10 µs at least, however close the peer", () => {
    expect(fed(2).timeoutPs(0)).toBe(10 * US)
  })

  it("a packet that was sent again for nothing doubles the wait, up to four round trips; 512 calm ones halve it", () => {
    const rtt = fed(...Array.from({ length: 1000 }, () => 40))
    expect(rtt.isCalm).toBe(true)
    const waits = Array.from({ length: 6 }, () => {
      rtt.widen()
      return rtt.reorderWindowPs / US
    })
    expect(waits).toEqual([10, 20, 40, 80, 80, 80])
    for (let i = 0; i < 512; i++) rtt.sample(40 * US)
    expect([rtt.isCalm, rtt.reorderWindowPs / US]).toEqual([false, 40])
    for (let i = 0; i < 3 * 512; i++) rtt.sample(40 * US)
    expect([rtt.isCalm, rtt.reorderWindowPs / US]).toEqual([true, 5])
  })
})
