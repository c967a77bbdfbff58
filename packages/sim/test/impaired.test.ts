import { describe, expect, it } from "vitest"
import { BlackHole, ImpairedKernel, LinkCorruption, LinkDown, LinkLoss } from "../src/index.ts"
import { Bench, type BenchOptions, twoHosts } from "./bench.ts"

const LATE = 2

/** Twelve packets, a thousand ps each, over a link that is impaired. */
const impaired = (options: Partial<BenchOptions> = {}, count = 12) => {
  const bench = new Bench({ ...twoHosts, seed: 7, ...options }, ImpairedKernel)
  const kernel = bench.kernel as ImpairedKernel
  const { onCall } = kernel
  kernel.onLate = (time, place) => kernel.callAt(time, LATE, place)
  kernel.onCall = (now, target, argument) =>
    target === LATE ? kernel.arriveLate(argument) : onCall(now, target, argument)
  bench.send(0, 0, 1, {}, count)
  return { bench, kernel }
}

describe("an impaired link", () => {
  it("lets all pass until it is told otherwise", () => {
    const { bench, kernel } = impaired()
    kernel.impair(0, {})
    bench.run()
    expect(bench.times()).toEqual(Array.from({ length: 12 }, (_, at) => 4000 + 1000 * at))
    expect(kernel.stragglerCount).toBe(0)
  })

  it("delays every packet alike, and so keeps their order", () => {
    const { bench, kernel } = impaired()
    kernel.impair(0, { delayPs: [500, 500] })
    bench.run()
    expect(bench.times()).toEqual(Array.from({ length: 12 }, (_, at) => 4500 + 1000 * at))
    expect(bench.delivered.map(({ psn }) => psn)).toEqual(Array.from({ length: 12 }, (_, psn) => psn))
  })

  it("delays the way it is told, and not the way back", () => {
    const { bench, kernel } = impaired()
    kernel.impair(1, { delayPs: [500, 500] })
    bench.run()
    expect(bench.times()[0]).toBe(4000)
  })

  it("lets packets pass those that are held up", () => {
    const { bench, kernel } = impaired({}, 200)
    kernel.impair(0, { reordering: 0.1, reorderPs: 2500 })
    bench.run()
    const order = bench.delivered.map(({ psn }) => psn)
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, psn) => psn))
    const overtaken = order.filter((psn, at) => order.slice(at + 1).some((later) => later < psn)).length
    expect(overtaken).toBeGreaterThan(10)
    expect(bench.pool.alive).toBe(0)
  })

  it("repeats packets, octets and all, and counts none of them twice", () => {
    const { bench, kernel } = impaired({}, 200)
    kernel.impair(3, { duplication: 0.1 })
    bench.run()
    expect(bench.delivered.length).toBeGreaterThan(205)
    expect(new Set(bench.delivered.map(({ psn }) => psn)).size).toBe(200)
    expect(bench.dropped).toEqual([])
    expect(kernel.packetHops).toBe(400)
    expect(bench.pool.alive).toBe(0)
  })

  it("loses and damages packets, each for its own reason", () => {
    const { bench, kernel } = impaired({}, 400)
    kernel.impair(0, { loss: 0.1, corruption: 0.05 })
    bench.run()
    const lost = kernel.dropCounts[-LinkLoss]!
    const damaged = kernel.dropCounts[-LinkCorruption]!
    expect(lost).toBeGreaterThan(20)
    expect(lost).toBeLessThan(60)
    expect(damaged).toBeGreaterThan(8)
    expect(damaged).toBeLessThan(40)
    expect(bench.delivered.length).toBe(400 - lost - damaged)
  })

  it("draws by its seed, and either kernel draws alike", () => {
    const runOf = (options: Partial<BenchOptions>) => {
      const { bench, kernel } = impaired({ ...options, plainSwitch: { dequeue: "lazy" } }, 100)
      kernel.impair(0, { loss: 0.05, duplication: 0.1, reordering: 0.1, reorderPs: 1500, delayPs: [0, 3000] })
      kernel.impair(3, { loss: 0.05, duplication: 0.1, delayPs: [100, 200] })
      bench.run()
      return bench.delivered.map(({ now, psn }) => `${psn}@${now}`).join(" ")
    }
    expect(runOf({ seed: 1 })).toBe(runOf({ seed: 1 }))
    expect(runOf({ seed: 1 })).not.toBe(runOf({ seed: 2 }))
    expect(runOf({ seed: 1, fused: true })).toBe(runOf({ seed: 1 }))
  })

  it("cuts off what it holds up when it goes down", () => {
    const { bench, kernel } = impaired({}, 1)
    kernel.impair(0, { delayPs: [5000, 5000] })
    bench.run(3000)
    kernel.takeDown(0)
    bench.run()
    expect(bench.delivered).toEqual([])
    expect(bench.dropped).toEqual([{ now: 7000, node: 2, psn: 0, reason: LinkDown }])
    expect(bench.pool.alive).toBe(0)
  })
})

describe("a silent black hole", () => {
  /** Hosts 1 to 40 send five packets each to host 0: they cross port 1, the switch's. */
  const swallowed = (share: number, seed: number) => {
    const hosts = 41
    const links = Array.from({ length: hosts }, (_, host) => ({ between: [host, hosts] as const }))
    const bench = new Bench({ hosts, switches: 1, links, seed }, ImpairedKernel)
    const kernel = bench.kernel as ImpairedKernel
    kernel.impair(1, { blackHole: share })
    for (let host = 1; host < hosts; host++) bench.send(0, host, 0, {}, 5)
    bench.run()
    expect(bench.pool.alive).toBe(0)
    expect(kernel.dropCounts[-BlackHole]).toBe(200 - bench.delivered.length)
    const counts = new Map<number, number>()
    for (const { flow } of bench.delivered) counts.set(flow, (counts.get(flow) ?? 0) + 1)
    return counts
  }

  it("takes all packets of a share of the flows, and none of the others", () => {
    const seen = Array.from({ length: 20 }, (_, seed) => {
      const counts = swallowed(0.5, seed)
      expect(new Set(counts.values())).toEqual(new Set([5]))
      return counts.size
    })
    // 800 flows, half of them by chance: 400, with a standard deviation of 14.
    const passed = seen.reduce((sum, each) => sum + each)
    expect(passed).toBeGreaterThan(340)
    expect(passed).toBeLessThan(460)
  })

  it("of a share of 1 takes all, of 0 none", () => {
    expect(swallowed(1, 3).size).toBe(0)
    expect(swallowed(0, 3).size).toBe(40)
  })

  it("of one direction lets the other pass", () => {
    const { bench, kernel } = impaired()
    kernel.impair(1, { blackHole: 1 })
    bench.run()
    expect(bench.delivered.length).toBe(12)
  })
})
