import { Drop } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { LinkLoss } from "../src/index.ts"
import { Bench, threeHosts, twoHosts } from "./bench.ts"

const lossy = (lossRate: number, seed: number) =>
  new Bench({ ...twoHosts, links: [{ between: [0, 2], lossRate }, { between: [1, 2] }], seed })

describe("losses", () => {
  it("happen at the rate of the link, by seed", () => {
    const lost = (rate: number, seed: number) => {
      const bench = lossy(rate, seed)
      bench.send(0, 0, 1, {}, 4000)
      bench.run()
      expect(bench.delivered.length + bench.dropped.length).toBe(4000)
      expect(bench.kernel.dropCounts[-LinkLoss]).toBe(bench.dropped.length)
      expect(bench.pool.alive).toBe(0)
      return bench.dropped.map(({ psn }) => psn)
    }
    expect(lost(0, 1)).toEqual([])
    expect(lost(1, 1).length).toBe(4000)
    // 400 expected, with a standard deviation of 19.
    expect(Math.abs(lost(0.1, 1).length - 400)).toBeLessThan(80)
    expect(lost(0.1, 1)).toEqual(lost(0.1, 1))
    expect(lost(0.1, 1)).not.toEqual(lost(0.1, 2))
  })

  it("hit the frames that are named, by sending port and ordinal", () => {
    // Port 0 is host 0's; port 3 is the switch's towards host 1.
    const losses = new Map([
      [0, new Set([1, 3])],
      [3, new Set([0])],
    ])
    const bench = new Bench({ ...twoHosts, losses })
    bench.send(0, 0, 1, {}, 6)
    bench.run()
    expect(bench.delivered.map(({ psn }) => psn)).toEqual([2, 4, 5])
    expect(bench.dropped.map(({ node, psn, reason }) => [node, psn, reason])).toEqual([
      [2, 1, LinkLoss],
      [1, 0, LinkLoss],
      [2, 3, LinkLoss],
    ])
    // What is lost on the link did travel.
    expect(bench.kernel.packetHops).toBe(6 + 4)
    expect(bench.pool.alive).toBe(0)
  })

  it("spare pauses, and do not count them", () => {
    const losses = new Map([[1, new Set([0, 1, 2])]])
    const bench = new Bench({ ...twoHosts, plainSwitch: { pauseBytes: 1 }, losses })
    bench.send(0, 0, 1, {}, 20)
    bench.run()
    expect(bench.delivered.length).toBe(20)
    expect(bench.kernel.pfcFrames).toBeGreaterThan(3)
  })
})

describe("drops by reason", () => {
  it("no route", () => {
    const bench = new Bench({ ...twoHosts, plainSwitch: { routes: [] } })
    bench.send(0, 0, 1, {}, 3)
    bench.run()
    expect(bench.dropped.map(({ node, reason }) => [node, reason])).toEqual(new Array(3).fill([2, Drop.NoRoute]))
    expect(bench.kernel.dropCounts[-Drop.NoRoute]).toBe(3)
    expect(bench.pool.alive).toBe(0)
  })

  it("a full queue", () => {
    const bench = new Bench({ ...threeHosts, plainSwitch: { queueBytesMax: 2000 } })
    bench.send(0, 0, 2, {}, 10)
    bench.send(0, 1, 2, {}, 10)
    bench.run()
    const full = bench.kernel.dropCounts[-Drop.EgressFull]!
    expect(full).toBeGreaterThan(0)
    expect(bench.delivered.length + full).toBe(20)
    expect(bench.pool.alive).toBe(0)
  })

  /** Switches 2 and 3 that send everything to each other. */
  const loop = (hopsMax: number, perPacket: boolean) => {
    const bench = new Bench({
      hosts: 2,
      switches: 2,
      links: [{ between: [0, 2] }, { between: [2, 3] }, { between: [1, 3] }],
      hopsMax,
      plainSwitch: { perPacket },
    })
    bench.kernel.switches[3] = Object.assign(Object.create(bench.switches[1]!), { route: () => 3 })
    bench.kernel.switches[2] = Object.assign(Object.create(bench.switches[0]!), { route: () => 2 })
    return bench
  }

  it.each([
    [1, false],
    [2, false],
    [7, false],
    [7, true],
  ])("more than %i switches (a route for each packet: %s)", (hopsMax, perPacket) => {
    const bench = loop(hopsMax, perPacket)
    bench.send(0, 0, 1, {}, 2)
    bench.run()
    expect(bench.kernel.dropCounts[-Drop.HopLimit]).toBe(2)
    // The link to the first switch, and one on from each of hopsMax switches.
    expect(bench.kernel.packetHops).toBe(2 * (1 + hopsMax))
    expect(bench.pool.alive).toBe(0)
  })

  it("exactly hopsMax switches are no drop", () => {
    const bench = new Bench({ ...twoHosts, hopsMax: 1 })
    bench.send(0, 0, 1)
    bench.run()
    expect(bench.delivered.length).toBe(1)
  })
})
