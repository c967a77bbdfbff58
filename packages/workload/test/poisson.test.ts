import { exp } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import {
  aliStorage2019,
  bisectionLoadBps,
  bytesOf,
  fbHadoop,
  fixedSize,
  hostLoadBps,
  labels,
  networkLoadBps,
  type PoissonOptions,
  poissonFlows,
  type SizeDistribution,
  WorkloadError,
  webSearch,
} from "../src/index.ts"
import { largestDistance } from "./statistics.ts"

const first = (hosts: number): ReadonlyArray<number> => Array.from({ length: hosts }, (_, host) => host)
const SECOND = 1e12
const options: PoissonOptions = {
  hosts: first(320),
  sizes: fbHadoop,
  payloadBps: hostLoadBps(0.5, 100e9),
  startPs: 2e12,
  durationPs: 1e9,
  seed: 7,
}

describe("Poisson flows", () => {
  const flows = poissonFlows(options)

  it("join any two hosts in the time that was given, by start", () => {
    expect(new Set(flows.map(({ source }) => source)).size).toBe(320)
    expect(new Set(flows.map(({ destination }) => destination)).size).toBe(320)
    const right = flows.every(
      ({ source, destination, startPs, priority, destinationPort, sizeBytes }, i) =>
        source !== destination &&
        startPs >= (i === 0 ? 2e12 : flows[i - 1]!.startPs) &&
        startPs < 2e12 + 1e9 &&
        startPs % 1000 === 0 &&
        Number.isInteger(sizeBytes) &&
        sizeBytes >= 1 &&
        priority === 3 &&
        destinationPort === labels.normal,
    )
    expect(right).toBe(true)
  })

  it("follow from the seed, on any machine", () => {
    expect(poissonFlows(options)).toEqual(flows)
    expect(poissonFlows({ ...options, seed: 8 })).not.toEqual(flows)
    expect(flows).toHaveLength(16_783)
    expect(flows.slice(0, 3)).toEqual([
      { source: 45, destination: 283, sizeBytes: 670, startPs: 2_000_000_116_000, priority: 3, destinationPort: 100 },
      {
        source: 245,
        destination: 145,
        sizeBytes: 238_852,
        startPs: 2_000_000_119_000,
        priority: 3,
        destinationPort: 100,
      },
      { source: 176, destination: 224, sizeBytes: 496, startPs: 2_000_000_147_000, priority: 3, destinationPort: 100 },
    ])
  })

  it("of a shorter time are the beginning of those of a longer one", () => {
    const half = poissonFlows({ ...options, durationPs: 5e8 })
    expect(half).toEqual(flows.filter(({ startPs }) => startPs < 2e12 + 5e8))
  })

  it("of a host do not depend on how much the others send", () => {
    const rates = first(320).map((host) => (host === 3 ? 50e9 : 0))
    const alone = poissonFlows({ ...options, payloadBps: rates })
    expect(alone).toEqual(flows.filter(({ source }) => source === 3))
  })

  it("go among the hosts that are named, from 0 on or not", () => {
    const few = poissonFlows({ ...options, hosts: [10, 20, 30], priority: 5, startPs: 0 })
    expect(new Set(few.map(({ source }) => source))).toEqual(new Set([10, 20, 30]))
    expect(new Set(few.map(({ destination }) => destination))).toEqual(new Set([10, 20, 30]))
    expect(few.every(({ source, destination, priority }) => source !== destination && priority === 5)).toBe(true)
  })
})

describe("a long run has the load that was asked for", () => {
  it.each<[string, SizeDistribution, number]>([
    ["WebSearch", webSearch, 60],
    ["FB_Hadoop", fbHadoop, 24],
    ["AliStorage2019", aliStorage2019, 6],
  ])("%s: within 1 %, and sizes as distributed", (_, sizes, seconds) => {
    const payloadBps = hostLoadBps(0.3, 10e9)
    const durationPs = seconds * SECOND
    const flows = poissonFlows({ hosts: first(16), sizes, payloadBps, durationPs, seed: 1 })
    expect(Math.abs((bytesOf(flows) * 8) / (16 * 10e9 * seconds) / 0.3 - 1)).toBeLessThan(0.01)
    // Arrivals in number too: n = hosts · time · rate / (8 · mean), 3 standard deviations of a Poisson count.
    const expected = (16 * seconds * payloadBps) / (8 * sizes.meanBytes)
    expect(Math.abs(flows.length - expected)).toBeLessThan(3 * Math.sqrt(expected))
    // Kolmogorov and Smirnov: 1.63 / √n is exceeded once in a hundred samples; sizes are whole bytes, half a byte off.
    const drawn = flows.map(({ sizeBytes }) => sizeBytes)
    const distance = largestDistance(drawn, (bytes) => sizes.shareUpTo(bytes + 0.5))
    expect(distance).toBeLessThan(1.63 / Math.sqrt(flows.length))
  })

  it("gaps are exponential with the mean of the generator's formula", () => {
    // traffic_gen.py -c WebSearch -l 0.3 -b 100G: 1 / (100e9 · 0.3 / 8 / 1,711,250) s = 456.333… µs.
    const meanPs = 456_333_333.333
    const payloadBps = hostLoadBps(0.3, 100e9)
    const flows = poissonFlows({ hosts: [4, 9], sizes: webSearch, payloadBps, durationPs: 20 * SECOND, seed: 5 })
    const starts = flows.filter(({ source }) => source === 4).map(({ startPs }) => startPs)
    const gaps = starts.slice(1).map((start, i) => start - starts[i]!)
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length / meanPs).toBeCloseTo(1, 1)
    expect(largestDistance(gaps, (gap) => 1 - exp(-gap / meanPs))).toBeLessThan(1.63 / Math.sqrt(gaps.length))
  })

  it("every other host is as likely to hear from a host", () => {
    const flows = poissonFlows({ hosts: first(8), sizes: fixedSize(1e6), payloadBps: 1e9, durationPs: 1e14, seed: 2 })
    const counts = new Map<string, number>()
    for (const { source, destination } of flows) {
      const pair = `${source}-${destination}`
      counts.set(pair, (counts.get(pair) ?? 0) + 1)
    }
    expect(counts.size).toBe(56)
    const each = flows.length / 56
    for (const count of counts.values()) expect(Math.abs(count - each)).toBeLessThan(4 * Math.sqrt(each))
  })

  it("a share of the bisection crosses it", () => {
    const payloadBps = bisectionLoadBps(0.4, 20e9, 8)
    const durationPs = 20 * SECOND
    const flows = poissonFlows({ hosts: first(8), sizes: fixedSize(100_000), payloadBps, durationPs, seed: 3 })
    for (const [from, to] of [
      [0, 4],
      [4, 0],
    ] as const) {
      const across = flows.filter(
        ({ source, destination }) => source >= from && source < from + 4 && destination >= to && destination < to + 4,
      )
      expect(Math.abs((bytesOf(across) * 8) / 20 / 20e9 / 0.4 - 1)).toBeLessThan(0.01)
    }
  })
})

describe("loads", () => {
  it("of host links, of the network, of the bisection", () => {
    expect(hostLoadBps(0.3, 100e9)).toBe(30e9)
    // HPCC §5.3: 2 % of 320 hosts at 100 Gb/s.
    expect(networkLoadBps(0.02, new Array(320).fill(100e9))).toBe(640e9)
    // Two of four hosts on each side; each sends 2/3 across: 2 · 75 · 2/3 = 100 of 200 Gb/s.
    expect(bisectionLoadBps(0.5, 200e9, 4)).toBe(75e9)
    // One of three on one side, which sends all across; of the others each sends half: 2 · 50 / 2 = 50.
    expect(bisectionLoadBps(0.5, 100e9, 3)).toBe(50e9)
  })

  it("that are none", () => {
    expect(() => hostLoadBps(0, 1e9)).toThrow("load is 0, expected above 0, at most 10")
    expect(() => hostLoadBps(30, 1e9)).toThrow("a share, not a percentage")
    expect(() => hostLoadBps(0.3, 0)).toThrow("rateBps is 0, expected above 0 bit/s")
    expect(() => bisectionLoadBps(0.3, Number.NaN, 4)).toThrow("bisectionBps is NaN")
    expect(() => bisectionLoadBps(0.3, 1e9, 1)).toThrow("hosts is 1")
    expect(() => networkLoadBps(0.3, [1e9, -1])).toThrow("ratesBps is -1")
  })

  it.each<[Partial<PoissonOptions>, string]>([
    [{ hosts: [1] }, "hosts is 1, expected 2 hosts or more"],
    [{ hosts: [1, 1] }, "hosts is 1 twice, expected each host once"],
    [{ hosts: [0, 65_536] }, "hosts is 65536"],
    [{ durationPs: 0 }, "durationPs is 0"],
    [{ durationPs: 0.5 }, "durationPs is 0.5"],
    [{ startPs: Number.MAX_SAFE_INTEGER }, "durationPs is"],
    [{ startPs: -1 }, "startPs is -1"],
    [{ priority: 0 }, "priority is 0, expected a whole number, 1..7"],
    [{ payloadBps: -1 }, "payloadBps is -1"],
    [{ payloadBps: [1] }, "payloadBps is 1 rates, expected one for each of 320 hosts"],
    [{ seed: Number.NaN }, "seed is NaN, expected a whole number, 0..4294967295"],
    [{ seed: 2 ** 32 }, "seed is 4294967296, expected a whole number, 0..4294967295"],
    [{ seed: -1 }, "seed is -1"],
    [{ durationPs: 1e15 }, "expected at most 10000000 in all; a shorter time or a lower load has fewer"],
    [{ payloadBps: Number.POSITIVE_INFINITY }, "payloadBps is Infinity"],
  ])("%o makes no flows", (changed, message) => {
    const make = () => poissonFlows({ ...options, ...changed })
    expect(make).toThrow(WorkloadError)
    expect(make).toThrow(message)
  })
})
