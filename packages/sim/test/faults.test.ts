import { describe, expect, it } from "vitest"
import { ExactKernel, LinkDown, LinkLoss } from "../src/index.ts"
import { Bench, threeHosts, twoHosts } from "./bench.ts"

describe("a link that goes down", () => {
  it("cuts off what is on it, and holds the rest back until it is up", () => {
    // A packet takes 1,000 ps to send and 1,000 to travel; number 1 is on its way at 2,500 ps, number 2 half sent.
    const bench = new Bench({
      ...twoHosts,
      script: [
        [2500, (kernel) => kernel.takeDown(0)],
        [10_000, (kernel) => kernel.bringUp(0)],
      ],
    })
    bench.send(0, 0, 1, {}, 6)
    bench.run()
    expect(bench.delivered.map(({ now, psn }) => [now, psn])).toEqual([
      [4000, 0],
      [14_000, 3],
      [15_000, 4],
      [16_000, 5],
    ])
    expect(bench.dropped).toEqual([
      { now: 3000, node: 2, psn: 1, reason: LinkDown },
      { now: 4000, node: 2, psn: 2, reason: LinkDown },
    ])
    expect(bench.kernel.dropCounts[-LinkDown]).toBe(2)
    expect(bench.kernel.packetHops).toBe(2 + 2 + 6)
    expect(bench.pool.alive).toBe(0)
  })

  it("for less than a packet's time: what it was sending is lost, and still takes its time", () => {
    const bench = new Bench({
      ...twoHosts,
      script: [
        [2500, (kernel) => kernel.takeDown(0)],
        [2600, (kernel) => kernel.bringUp(0)],
      ],
    })
    bench.send(0, 0, 1, {}, 5)
    bench.run()
    expect(bench.delivered.map(({ now, psn }) => [now, psn])).toEqual([
      [4000, 0],
      [7000, 3],
      [8000, 4],
    ])
    expect(bench.dropped.map(({ psn }) => psn)).toEqual([1, 2])
  })

  it("drops what waits at the switch, which is told, or not", () => {
    for (const quietly of [false, true]) {
      const bench = new Bench({ ...threeHosts, script: [[4500, (kernel) => kernel.takeDown(2, quietly)]] })
      bench.send(0, 0, 2, { flow: 0 }, 4)
      bench.send(0, 1, 2, { flow: 2 }, 4)
      bench.run()
      // The first is sent from 2,000 to 3,000 ps and arrives at 4,000; the next two are on the link at 4,500.
      expect(bench.delivered.length).toBe(1)
      const reasons = new Set(bench.dropped.map(({ reason }) => reason))
      expect(reasons).toEqual(new Set([LinkDown]))
      // Three of each had come by then; what comes later is dropped as it comes, for these switches know of no other way.
      expect(bench.dropped.filter(({ now }) => now === 4500).length).toBe(6 - 3)
      // Of the two on the link one has been sent by 4,000 ps, the other by 5,000: each would take 1,000 more.
      expect(bench.dropped.filter(({ now }) => now > 4500).map(({ now }) => now)).toEqual([5000, 5000, 5000, 6000])
      expect(bench.kernel.waiting).toBe(0)
    }
  })

  it("ends pauses of both ends", () => {
    const bench = new Bench({
      ...twoHosts,
      plainSwitch: { pauseBytes: 1 },
      script: [
        [3150, (kernel) => kernel.takeDown(0)],
        [3160, (kernel) => expect(kernel.pausedMask(0)).toBe(0)],
        [20_000, (kernel) => kernel.bringUp(0)],
      ],
    })
    const heard: Array<unknown> = []
    bench.kernel.onPause = (...pause) => void heard.push(pause)
    bench.send(0, 0, 1, {}, 6)
    bench.run()
    // The pause arrived at 3,100 ps, and the resume would have at 3,200.
    expect(heard.slice(0, 2)).toEqual([
      [3100, 0, 3, true],
      [3150, 0, 3, false],
    ])
    // Pauses are cut off like anything else.
    expect(bench.delivered.at(-1)?.psn).toBe(5)
    expect(bench.pool.alive).toBe(0)
  })

  it("makes no difference to a network in which nothing happens", () => {
    const run = (script: NonNullable<ConstructorParameters<typeof Bench>[0]["script"]>) => {
      const bench = new Bench({ ...threeHosts, plainSwitch: { pauseBytes: 2000 }, script })
      bench.send(0, 0, 2, { flow: 0 }, 50)
      bench.send(700, 1, 2, { flow: 2 }, 50)
      bench.run()
      return bench.delivered
    }
    expect(run([[1e6, () => {}]])).toEqual(run([]))
  })
})

describe("rates of loss that change", () => {
  it("hold from then on", () => {
    const bench = new Bench({
      ...twoHosts,
      script: [
        [3500, (kernel) => kernel.setLossRate(0, 1)],
        [5500, (kernel) => kernel.setLossRate(0, 0)],
      ],
    })
    // Arrivals at the switch: 2,000 to 7,000.
    bench.send(0, 0, 1, {}, 6)
    bench.run()
    expect(bench.delivered.map(({ psn }) => psn)).toEqual([0, 1, 4, 5])
    expect(bench.dropped.map(({ reason }) => reason)).toEqual([LinkLoss, LinkLoss])
  })

  it("or are a model's own, which is asked of pauses too", () => {
    const asked: Array<number> = []
    const bench = new Bench({
      ...twoHosts,
      plainSwitch: { pauseBytes: 1 },
      isLost: (port) => {
        asked.push(port)
        return asked.length === 1
      },
    })
    expect(bench.kernel).toBeInstanceOf(ExactKernel)
    bench.send(0, 0, 1, {}, 3)
    bench.run()
    expect(bench.delivered.map(({ psn }) => psn)).toEqual([1, 2])
    // Port 1 sends nothing but pauses and resumes.
    expect(asked.filter((port) => port === 1).length).toBe(bench.kernel.pfcFrames)
  })
})
