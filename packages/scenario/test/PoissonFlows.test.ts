import { formatFlows } from "@rdmakit/ns3"
import { describe, expect, it } from "vitest"
import { fbHadoop, poissonFlows, SizeDistribution } from "../src/index.ts"

const options = {
  ...{ hosts: 320, sizes: fbHadoop, load: 0.5, rateBps: 100e9, startPs: 2e12, durationPs: 1e9, seed: 7 },
}

describe("a distribution of sizes", () => {
  it("goes through its points in straight lines", () => {
    const sizes = new SizeDistribution([
      [0, 0],
      [100, 50],
      [1100, 100],
    ])
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => sizes.bytesAt(share))).toEqual([1, 50, 100, 600, 1100])
    expect(sizes.meanBytes).toBe(0.5 * 50 + 0.5 * 600)
  })

  it("FB_Hadoop: half the flows fit into 700 bytes, the mean is 123 kB", () => {
    expect(fbHadoop.bytesAt(0.5)).toBe(700)
    expect(fbHadoop.bytesAt(0.975)).toBe(1e6)
    expect(fbHadoop.bytesAt(1)).toBe(10e6)
    expect(fbHadoop.meanBytes).toBeCloseTo(123_000, -4)
  })
})

describe("Poisson flows", () => {
  const flows = poissonFlows(options)

  it("have the load that was asked for, between any two hosts, in the time that was given", () => {
    const bytes = flows.sizeBytes.reduce((sum, size) => sum + size, 0)
    expect(bytes / ((320 * 100e9 * 1e-3) / 8)).toBeCloseTo(0.5, 1)
    expect(new Set(flows.src).size).toBe(320)
    expect(new Set(flows.dst).size).toBe(320)
    for (let flow = 0; flow < flows.count; flow++) {
      expect(flows.src[flow]).not.toBe(flows.dst[flow])
      expect(flows.startPs[flow]).toBeGreaterThanOrEqual(flow === 0 ? 2e12 : flows.startPs[flow - 1]!)
      expect(flows.startPs[flow]).toBeLessThan(2e12 + 1e9)
      expect(flows.startPs[flow]! % 1000).toBe(0)
    }
  })

  it("follow from the seed", () => {
    expect(formatFlows(poissonFlows(options))).toBe(formatFlows(flows))
    expect(formatFlows(poissonFlows({ ...options, seed: 8 }))).not.toBe(formatFlows(flows))
  })
})
