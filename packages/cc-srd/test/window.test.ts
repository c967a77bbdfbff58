import { dumbbell } from "@rdmakit/conformance"
import { describe, expect, it } from "vitest"
import { type SrdControlOptions, srd } from "../src/index.ts"
import { Feedback, path, slowPaths, US } from "./feedback.ts"

const feedback = (options: SrdControlOptions = {}): Feedback => new Feedback(srd(options).make(0, path))

/** A sixty-fourth of the bandwidth-delay product. */
const INCREASE = 100_000 / 64

/** Where what a round trip adds is what it takes away: increase = β · (delay - target) / (base RTT + delay) · bytes. */
const balance = (delayUs: number): number => INCREASE / (0.25 * ((delayUs - 4) / (8 + delayUs)))

describe("what may be in flight", () => {
  it("begins with a bandwidth-delay product, at line rate", () => {
    const { controller } = feedback()
    expect([controller.window, controller.rate]).toEqual([101_000, 100e9])
  })

  it("grows by a sixty-fourth of it in a round trip while all is calm; after five rounds twice as fast with each", () => {
    const paths = feedback({ mostShare: 1000 })
    const grown = Array.from({ length: 12 }, () => {
      const before = paths.inFlightBytes
      // As many packets as are in flight.
      paths.acks(Math.round(before / 1000), [0])
      return (paths.inFlightBytes - before) / INCREASE
    })
    for (const each of grown.slice(0, 5)) expect(each).toBeCloseTo(1, 1)
    expect(grown[11]!).toBeGreaterThan(16)
    for (let round = 6; round < 12; round++) expect(grown[round]!).toBeGreaterThan(grown[round - 1]!)
  })

  it("is at most twice that, and at least a sixteenth of a packet", () => {
    const calm = feedback()
    calm.acks(5000, [0])
    expect([calm.inFlightBytes, calm.controller.window]).toEqual([200_000, 201_000])
    const choked = feedback({ increaseShare: 1e-9, beta: 1 })
    choked.acks(5000, [4000])
    expect(choked.inFlightBytes).toBe(1000 / 16)
    // Part of a packet: a packet at a time, as often as the rate says, 62.5 bytes in 4,008 µs.
    expect(choked.controller.window).toBe(1062)
    expect(choked.controller.rate).toBeCloseTo((62.5 * 8) / 4.008e-3, -3)
  })

  it.each([0, 1, 4, 7])("is not told by %i slow paths of 16: they are the transport's business", (slow) => {
    const paths = feedback()
    paths.acks(5000, slowPaths(slow, 40))
    expect(paths.inFlightBytes).toBe(200_000)
    expect(paths.controller.metrics().slowShare).toBeLessThan(0.5)
  })

  it.each([10, 12, 16])("falls when %i of 16 are slow, to where the law balances", (slow) => {
    const paths = feedback()
    paths.acks(20_000, slowPaths(slow, 12))
    expect(paths.controller.metrics().congestedRounds).toBeGreaterThan(50)
    expect(paths.inFlightBytes / balance((slow / 16) * 12)).toBeCloseTo(1, 0)
  })

  it("comes to the same from above and from below when all paths have the same delay", () => {
    const shares = [0.05, 0.5, 2].map((initialShare) => {
      const paths = feedback({ initialShare, mostShare: 4 })
      paths.acks(20_000, [12])
      return paths.inFlightBytes
    })
    expect(balance(12)).toBe(15_625)
    for (const each of shares) expect(each / 15_625).toBeCloseTo(1, 2)
  })

  it("does not grow while less comes through than leaves, however short the round trips", () => {
    const paths = feedback()
    paths.acks(200, [0])
    const before = paths.inFlightBytes
    paths.acks(1000, [0], 1.5)
    expect(paths.controller.metrics().congestedRounds).toBeGreaterThan(0)
    const after = paths.inFlightBytes
    paths.acks(100, [0], 1.5)
    expect(paths.inFlightBytes).toBe(after)
    expect(after - before).toBeLessThan(6 * INCREASE)
  })

  it("aims at the delay, starts to hurry and tells what falls behind as its options say", () => {
    const inFlight = (options: SrdControlOptions, queueUs: number, sentFor = 1): number => {
      const paths = feedback(options)
      paths.acks(5000, [queueUs], sentFor)
      return paths.inFlightBytes
    }
    // 6 µs are above half of the base RTT, and below all of it.
    expect(inFlight({}, 6)).toBeLessThan(100_000)
    expect(inFlight({ targetShare: 1 }, 6)).toBe(200_000)
    // Less comes through than leaves: no reason to wait where a share of nothing is enough.
    expect(inFlight({}, 0, 1.5)).toBeLessThan(200_000)
    expect(inFlight({ keepsUp: 0 }, 0, 1.5)).toBe(200_000)
    const grown = (fastAfterRounds: number): number => {
      const paths = feedback({ fastAfterRounds, mostShare: 1000 })
      for (let round = 0; round < 10; round++) paths.acks(Math.round(paths.inFlightBytes / 1000), [0])
      return (paths.inFlightBytes - 100_000) / INCREASE
    }
    expect(grown(100)).toBeCloseTo(10, 0)
    expect(grown(0)).toBeGreaterThan(2 * grown(5))
  })

  it("keeps what it is told to at least", () => {
    const choked = feedback({ leastPackets: 2, increaseShare: 1e-9, beta: 1 })
    choked.acks(5000, [4000])
    expect([choked.inFlightBytes, choked.controller.window]).toEqual([2000, 3000])
  })

  it("is none of a loss's business; after a timeout one packet goes at a time until something comes", () => {
    const { controller } = feedback()
    expect(controller.onLoss(0, false)).toBe(false)
    expect(controller.window).toBe(101_000)
    expect(controller.onLoss(0, true)).toBe(true)
    expect(controller.window).toBe(1000)
    new Feedback(controller).acks(1, [0])
    expect(controller.window).toBeGreaterThan(101_000)
  })

  it("stays as it is when an acknowledgement tells no round trip", () => {
    const paths = feedback()
    paths.acks(100, [Number.NaN])
    expect(paths.controller.window).toBe(101_000)
  })

  it("learns of a base round trip that is shorter than the world's", () => {
    const paths = feedback()
    paths.acks(100, [-4])
    expect(paths.controller.metrics().baseRttPs).toBe(4 * US)
  })
})

describe("flows that share a link", () => {
  const run = (flows: number, slices = 20) =>
    dumbbell(srd(), {
      flows: Array.from({ length: flows }, () => ({})),
      durationPs: 40e9,
      lineRateBps: 10e9,
      slices,
    })

  it.each([1, 2, 8, 48])("%i of them fill it, with a queue about the target", (flows) => {
    const { delivered, queueBytesMax } = run(flows)
    const bytes = delivered.flatMap((flow) => [...flow.subarray(10)]).reduce((sum, each) => sum + each, 0)
    // 10 Gb/s for 20 ms.
    expect(bytes / 25e6).toBeGreaterThan(0.98)
    // Half a bandwidth-delay product of 12,500 bytes is the target; one packet of each flow comes on top.
    expect(Math.max(...queueBytesMax.subarray(10))).toBeLessThan(2 * 12_500 + flows * 1000)
  })

  it.each([2, 8, 48])("%i of them have equal shares of it, each millisecond", (flows) => {
    const { delivered } = run(flows, 40)
    for (let slice = 20; slice < 40; slice++) {
      const shares = delivered.map((flow) => flow[slice]!)
      const sum = shares.reduce((total, each) => total + each, 0)
      // Jain's index.
      expect(sum ** 2 / (flows * shares.reduce((total, each) => total + each ** 2, 0))).toBeGreaterThan(0.98)
    }
  })
})
