import { describe, expect, it } from "vitest"
import {
  bytesOf,
  fixedSize,
  incastFlows,
  incastMembers,
  labels,
  networkLoadBps,
  type RandomIncastOptions,
  randomIncastFlows,
  WorkloadError,
  type WorkloadFlow,
  webSearch,
} from "../src/index.ts"

const first = (hosts: number): ReadonlyArray<number> => Array.from({ length: hosts }, (_, host) => host)

/** The flows of each incast, when none has jitter. */
const incastsOf = (flows: ReadonlyArray<WorkloadFlow>): ReadonlyArray<ReadonlyArray<WorkloadFlow>> => {
  const byMoment = new Map<string, Array<WorkloadFlow>>()
  for (const flow of flows) {
    const key = `${flow.startPs} ${flow.destination}`
    byMoment.set(key, [...(byMoment.get(key) ?? []), flow])
  }
  return [...byMoment.values()]
}

describe("an incast", () => {
  it("is one flow of every sender at the same time", () => {
    const flows = incastFlows({ senders: [0, 1, 2], receiver: 9, sizes: fixedSize(1e6), startPs: 5e6 })
    expect(flows).toEqual(
      [0, 1, 2].map((source) => ({
        ...{ source, destination: 9, sizeBytes: 1e6, startPs: 5e6 },
        ...{ priority: 3, destinationPort: labels.incast },
      })),
    )
  })

  it("with jitter starts within that time, whole nanoseconds, the same for a seed, with the same sizes", () => {
    const options = { senders: first(100), receiver: 100, sizes: webSearch, startPs: 1e6, seed: 4 }
    const flows = incastFlows({ ...options, jitterPs: 10e6 })
    expect(flows).toEqual(incastFlows({ ...options, jitterPs: 10e6 }))
    for (const { startPs } of flows) {
      expect(startPs >= 1e6 && startPs < 11e6 && startPs % 1000 === 0).toBe(true)
    }
    expect(new Set(flows.map(({ startPs }) => startPs)).size).toBeGreaterThan(90)
    const bySource = flows.toSorted((a, b) => a.source - b.source)
    expect(bySource.map(({ sizeBytes }) => sizeBytes)).toEqual(incastFlows(options).map(({ sizeBytes }) => sizeBytes))
  })

  it("with members drawn: different senders, none of them the receiver", () => {
    const { receiver, senders } = incastMembers(first(320), 60, 1)
    expect(new Set(senders).size).toBe(60)
    expect(senders).not.toContain(receiver)
    expect(incastMembers(first(320), 60, 1)).toEqual({ receiver, senders })
    expect(incastMembers(first(320), 60, 1, 1)).not.toEqual({ receiver, senders })
    expect(incastMembers(first(4), 3, 1, 0, 2)).toMatchObject({ receiver: 2 })
    expect(incastMembers([7, 8], 1, 0, 0, 7)).toEqual({ receiver: 7, senders: [8] })
  })

  it.each<[() => unknown, string]>([
    [() => incastFlows({ senders: [], receiver: 1, sizes: webSearch }), "senders is 0, expected 1 hosts or more"],
    [() => incastFlows({ senders: [1], receiver: 1, sizes: webSearch }), "receiver is 1, expected a host that is no"],
    [() => incastFlows({ senders: [1, 1], receiver: 2, sizes: webSearch }), "senders is 1 twice"],
    [() => incastFlows({ senders: [1], receiver: 2, sizes: webSearch, jitterPs: -1 }), "jitterPs is -1"],
    [() => incastMembers(first(4), 4, 0), "fanIn is 4, expected a whole number, 1..3"],
    [() => incastMembers(first(4), 1, 0, 0, 9), "receiver is 9, expected one of the hosts"],
  ])("%s", (make, message) => {
    expect(make).toThrow(WorkloadError)
    expect(make).toThrow(message)
  })
})

describe("random incasts", () => {
  // HPCC §5.3: 60 senders of 500 KB, 2 % of 320 hosts at 100 Gb/s: one in 60 · 500 KB · 8 / 640 Gb/s = 375 µs.
  const options: RandomIncastOptions = {
    hosts: first(320),
    fanIn: 60,
    sizes: fixedSize(500_000),
    payloadBps: networkLoadBps(0.02, new Array(320).fill(100e9)),
    durationPs: 1e12,
    seed: 1,
  }

  it("none of a load so small that the next would never come", () => {
    expect(randomIncastFlows({ ...options, payloadBps: 1e-320 })).toEqual([])
    expect(randomIncastFlows({ ...options, payloadBps: 1e-300 })).toEqual([])
  })

  it("as HPCC §5.3 has them", () => {
    const flows = randomIncastFlows(options)
    const incasts = incastsOf(flows)
    // 2,667 expected, 3 standard deviations.
    expect(Math.abs(incasts.length - 1 / 375e-6)).toBeLessThan(3 * Math.sqrt(1 / 375e-6))
    for (const each of incasts) {
      expect(each).toHaveLength(60)
      expect(new Set(each.map(({ source }) => source)).size).toBe(60)
      expect(each.some(({ source, destination }) => source === destination)).toBe(false)
    }
    expect(new Set(flows.map(({ destination }) => destination)).size).toBe(320)
    expect(flows.every(({ sizeBytes, destinationPort }) => sizeBytes === 500_000 && destinationPort === 200)).toBe(true)
  })

  it("have the load that was asked for, within 1 % in a long run", () => {
    const payloadBps = networkLoadBps(0.02, new Array(16).fill(10e9))
    const flows = randomIncastFlows({ ...options, hosts: first(16), fanIn: 4, payloadBps, durationPs: 600e12 })
    expect(Math.abs((bytesOf(flows) * 8) / (600 * 160e9) / 0.02 - 1)).toBeLessThan(0.01)
    // Every host is as often a sender.
    const each = flows.length / 16
    for (let host = 0; host < 16; host++) {
      const count = flows.filter(({ source }) => source === host).length
      expect(Math.abs(count - each)).toBeLessThan(4 * Math.sqrt(each))
    }
  })

  it("draw each incast by its number: the third is the third, whatever came before", () => {
    const [, , third] = incastsOf(randomIncastFlows(options))
    const { receiver, senders } = incastMembers(options.hosts, 60, 1, 2)
    expect(third!.map(({ source }) => source)).toEqual(senders)
    expect(third![0]!.destination).toBe(receiver)
  })

  it("follow from the seed, and end when they should", () => {
    const flows = randomIncastFlows({ ...options, durationPs: 1e10, jitterPs: 1e6, startPs: 5e9 })
    expect(flows).toEqual(randomIncastFlows({ ...options, durationPs: 1e10, jitterPs: 1e6, startPs: 5e9 }))
    for (const [i, { startPs }] of flows.entries()) {
      expect(startPs >= 5e9 && startPs < 15e9 + 1e6).toBe(true)
      expect(startPs).toBeGreaterThanOrEqual(flows[i - 1]?.startPs ?? 0)
    }
  })

  it.each<[Partial<RandomIncastOptions>, string]>([
    [{ fanIn: 320 }, "fanIn is 320, expected a whole number, 1..319"],
    [{ fanIn: 0 }, "fanIn is 0"],
    [{ payloadBps: 0 }, "payloadBps is 0, expected above 0 bit/s"],
    [{ durationPs: 1e15 }, "at most 10000000 in all"],
    [{ durationPs: Number.NaN }, "durationPs is NaN"],
  ])("%o makes none", (changed, message) => {
    expect(() => randomIncastFlows({ ...options, ...changed })).toThrow(message)
  })
})
